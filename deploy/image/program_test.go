package image_test

import (
	"bufio"
	"bytes"
	"context"
	"debug/elf"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/waybook/waybook/deploy/image"
	"github.com/waybook/waybook/internal/longform"
)

func TestAProgramIsStaticAndEmbedsTheTimeZones(t *testing.T) {
	longform.Only(t)
	executable := compiled(t, "edge")
	file, err := elf.NewFile(bytes.NewReader(executable))
	if err != nil {
		t.Fatal(err)
	}
	for _, segment := range file.Progs {
		if segment.Type == elf.PT_INTERP {
			t.Error("the program needs a dynamic linker")
		}
	}
	if !bytes.Contains(executable, []byte("Asia/Taipei")) || !slices.ContainsFunc(image.CompileFlags(revision), func(flag string) bool { return strings.Contains(flag, "timetzdata") }) {
		t.Error("the program does not embed the time zones")
	}
}

func TestAProgramReportsItsVersion(t *testing.T) {
	longform.Only(t)
	if runtime.GOOS != amd64.OS || runtime.GOARCH != amd64.Architecture {
		t.Skip("SKIPPED: this machine cannot run programs for linux/amd64")
	}
	program := exec.CommandContext(t.Context(), written(t, "edge"), "-http=127.0.0.1:0", "-admin=127.0.0.1:0")
	printed, err := program.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := program.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = program.Process.Kill() // fails after the program has ended
		_ = program.Wait()         // it was killed
	})
	admin := ""
	for lines := bufio.NewScanner(printed); admin == "" && lines.Scan(); {
		if address, found := strings.CutPrefix(strings.TrimSpace(lines.Text()), "admin"); found {
			admin = strings.TrimSpace(address)
		}
	}
	response, err := http.Get(admin + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	metrics, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(metrics, []byte(`version="`+version+`"} 1`)) {
		t.Errorf("waybook_build_info has no version %s", version)
	}
}

// written returns the path of an executable file with a program.
func written(t *testing.T, name string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, compiled(t, name), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

// The limits apply to the unpacked files, which a node stores; compressed, they take less than
// half. deploy/README.md explains why two images are larger.
func TestImagesAreSmallAndTheirProgramsPrintTheirVersion(t *testing.T) {
	longform.Only(t)
	const mebibyte = 1 << 20
	// Standalone has all services and the console, of which two megabytes are the map.
	larger := map[string]int{"standalone": 35 * mebibyte, "waybookctl": 41 * mebibyte}
	for _, program := range image.Programs() {
		executable := compiled(t, program.Name)
		var files bytes.Buffer
		if err := image.NewFiles(executable).Archive(&files, time.Unix(0, 0)); err != nil {
			t.Fatal(err)
		}
		limit := 28 * mebibyte
		if known := larger[program.Name]; known > 0 {
			limit = known
		}
		if files.Len() >= limit {
			t.Errorf("%s has %.1f MiB, limit %d", program.Name, float64(files.Len())/mebibyte, limit/mebibyte)
		}
		t.Logf("%-10s %.1f MiB", program.Name, float64(files.Len())/mebibyte)
		expectVersion(t, program.Name)
	}
}

// expectVersion checks what a program prints with --version, on machines that can run it.
func expectVersion(t *testing.T, name string) {
	t.Helper()
	if runtime.GOOS != amd64.OS || runtime.GOARCH != amd64.Architecture {
		return
	}
	printed, err := exec.CommandContext(t.Context(), written(t, name), "--version").Output()
	if want := name + " " + version + " (commit " + commit + ", " + runtime.Version() + ")\n"; err != nil || string(printed) != want {
		t.Errorf("%s --version printed %q (%v), want %q", name, printed, err, want)
	}
}

// compileAll compiles all programs for amd64, once for all tests, and returns them by name.
var compileAll = sync.OnceValues(func() (map[string][]byte, error) {
	directory, err := os.MkdirTemp("", "waybook-programs")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(directory) }()
	var packages []string
	for _, program := range image.Programs() {
		packages = append(packages, program.Package)
	}
	if err := image.Compile(context.Background(), root, directory, revision, amd64, packages...); err != nil {
		return nil, err
	}
	executables := map[string][]byte{}
	for _, program := range image.Programs() {
		if executables[program.Name], err = os.ReadFile(filepath.Join(directory, program.Name)); err != nil {
			return nil, err
		}
	}
	return executables, nil
})

func compiled(t *testing.T, name string) []byte {
	t.Helper()
	executables, err := compileAll()
	if err != nil {
		t.Fatal(err)
	}
	return executables[name]
}
