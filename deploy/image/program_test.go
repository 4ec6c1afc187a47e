package image_test

import (
	"bufio"
	"bytes"
	"debug/elf"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/waybook/waybook/deploy/image"
)

func TestAProgramIsStaticAndEmbedsTheTimeZones(t *testing.T) {
	executable := compiled(t)
	file, err := elf.NewFile(bytes.NewReader(executable))
	if err != nil {
		t.Fatal(err)
	}
	for _, segment := range file.Progs {
		if segment.Type == elf.PT_INTERP {
			t.Error("the program needs a dynamic linker")
		}
	}
	if !bytes.Contains(executable, []byte("Asia/Taipei")) || !slices.ContainsFunc(image.CompileFlags(version), func(flag string) bool { return strings.Contains(flag, "timetzdata") }) {
		t.Error("the program does not embed the time zones")
	}
}

func TestAProgramReportsItsVersion(t *testing.T) {
	if runtime.GOOS != amd64.OS || runtime.GOARCH != amd64.Architecture {
		t.Skip("SKIPPED: this machine cannot run programs for linux/amd64")
	}
	path := filepath.Join(t.TempDir(), "edge")
	if err := os.WriteFile(path, compiled(t), 0o700); err != nil {
		t.Fatal(err)
	}
	program := exec.CommandContext(t.Context(), path, "-http=127.0.0.1:0", "-admin=127.0.0.1:0")
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

// The limits apply to the unpacked files, which a node stores; compressed, they take less than
// half. deploy/README.md explains why two images are larger.
func TestImagesAreSmallAndTheirProgramsPrintTheirVersion(t *testing.T) {
	const mebibyte = 1 << 20
	// Standalone has all services and the console, of which a megabyte is the map.
	larger := map[string]int{"standalone": 30 * mebibyte, "waybookctl": 32 * mebibyte}
	directory := t.TempDir()
	var packages []string
	for _, program := range image.Programs() {
		packages = append(packages, program.Package)
	}
	if err := image.Compile(t.Context(), root, directory, version, amd64, packages...); err != nil {
		t.Fatal(err)
	}
	for _, program := range image.Programs() {
		executable, err := os.ReadFile(filepath.Join(directory, program.Name))
		if err != nil {
			t.Fatal(err)
		}
		var files bytes.Buffer
		if err := image.NewFiles(executable).Archive(&files, time.Unix(0, 0)); err != nil {
			t.Fatal(err)
		}
		limit := 25 * mebibyte
		if known := larger[program.Name]; known > 0 {
			limit = known
		}
		if files.Len() >= limit {
			t.Errorf("%s has %.1f MiB, limit %d", program.Name, float64(files.Len())/mebibyte, limit/mebibyte)
		}
		t.Logf("%-10s %.1f MiB", program.Name, float64(files.Len())/mebibyte)
		expectVersion(t, filepath.Join(directory, program.Name), program.Name)
	}
}

// expectVersion checks what a program prints with --version, on machines that can run it.
func expectVersion(t *testing.T, executable, name string) {
	t.Helper()
	if runtime.GOOS != amd64.OS || runtime.GOARCH != amd64.Architecture {
		return
	}
	printed, err := exec.CommandContext(t.Context(), executable, "--version").Output()
	if want := name + " " + version + " (commit unknown, " + runtime.Version() + ")\n"; err != nil || string(printed) != want {
		t.Errorf("%s --version printed %q (%v), want %q", name, printed, err, want)
	}
}

func compiled(t *testing.T) []byte {
	t.Helper()
	directory := t.TempDir()
	if err := image.Compile(t.Context(), root, directory, version, amd64, "./edge/cmd/edge"); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(filepath.Join(directory, "edge"))
	if err != nil {
		t.Fatal(err)
	}
	return content
}
