package guides_test

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/waybook/waybook/e2e/examples"
	"github.com/waybook/waybook/e2e/launch"
	"github.com/waybook/waybook/internal/longform"
)

const (
	callersPage   = examples.Docs + "callers.md"
	callersFolder = "../../examples/callers"
	failures      = examples.Docs + "grpc/failures.proto"
	descriptorSet = "../../proto/descriptors/waybook.protoset.binpb"
	// buildTime bounds a program with its compilation.
	buildTime = 5 * time.Minute
)

// program is a program of the page.
type program struct {
	language, file string
	// needs are the programs that it needs. libraries is a command that fails without its libraries, if the
	// page has none.
	needs     []string
	libraries string
	// environment is what the page leaves to the reader.
	environment []string
}

func callers(t *testing.T) []program {
	t.Helper()
	workspace, err := filepath.Abs("../../go.work") // in place of the reader's module
	if err != nil {
		t.Fatal(err)
	}
	const jars = "/usr/share/java"
	return []program{
		{"go", "albums.go", []string{"bash", "go"}, "true", []string{"GOWORK=" + workspace}},
		{"python", "albums.py", []string{"bash", "protoc", "grpc_python_plugin", "python3"}, "python3 -c 'import grpc, google.protobuf'", nil},
		{"node", "albums.js", []string{"bash", "node", "npm"}, "", nil},
		{"java", "Albums.java", []string{"bash", "protoc", "grpc_java_plugin", "java", "javac"}, "test -e " + jars + "/grpc-netty.jar",
			[]string{"JARS=" + jars + "/*"}},
	}
}

func TestTheProgramsOfThePageListAlbums(t *testing.T) {
	t.Parallel()
	longform.Only(t)
	binaries := t.TempDir()
	if err := launch.Build(binaries, launch.AsTested, "github.com/waybook/waybook/standalone"); err != nil {
		t.Fatal(err)
	}
	waybook := launch.Start(t, filepath.Join(binaries, "standalone"), t.TempDir(), "-demo=false")
	connection := launch.Dial(t, waybook.GRPC)
	owner := launch.CreateUser(t, connection, "小旅人")
	album := launch.CreateAlbumsOf(t, connection, owner, "阿里山", 1)[0]
	for _, each := range callers(t) {
		t.Run(each.language, func(t *testing.T) {
			for _, needed := range each.needs {
				examples.Need(t, needed)
			}
			folder := t.TempDir()
			libraries, script := each.writeTo(t, folder)
			if output, err := each.run(t, folder, cmp.Or(each.libraries, libraries), 0); err != nil {
				t.Skipf("SKIPPED: a library is missing: %s", output)
			}
			script = strings.ReplaceAll(script, "127.0.0.1:9090", waybook.GRPC)
			output, err := each.run(t, folder, script, owner)
			if want := fmt.Sprintf("%d 阿里山\n", album); err != nil || !strings.Contains(output, want) {
				t.Errorf("printed %q, want %q: %v", output, want, err)
			}
			output, err = each.run(t, folder, script, owner+1)
			if err == nil || !strings.Contains(output, fmt.Sprintf("USER_NOT_FOUND: there is no user %d", owner+1)) {
				t.Errorf("of a user who does not exist, it printed %q: %v", output, err)
			}
		})
	}
}

// writeTo writes the program and the files that it reads into a folder, and returns its commands. The
// first installs its libraries, and may be empty.
func (p program) writeTo(t *testing.T, folder string) (libraries, script string) {
	t.Helper()
	blocks, err := examples.Blocks(callersPage)
	if err != nil {
		t.Fatal(err)
	}
	for _, block := range blocks {
		switch block.Language {
		case "sh " + p.language:
			script = "set -e\n" + block.Text
		case "sh " + p.language + " libraries":
			libraries = block.Text
		}
	}
	for _, file := range []string{descriptorSet, retries, failures, filepath.Join(callersFolder, p.file)} {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(folder, filepath.Base(file)), content)
	}
	return libraries, script
}

func (p program) run(t *testing.T, folder, script string, user int64) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), buildTime)
	defer cancel()
	shell := exec.CommandContext(ctx, "bash", "-c", script)
	shell.Dir = folder
	// Libraries of Debian are those of its own programs.
	shell.Env = append(append(os.Environ(), "PATH=/usr/bin:"+os.Getenv("PATH"), fmt.Sprintf("USER_ID=%d", user), "NO_PROXY=127.0.0.1", "no_proxy=127.0.0.1"), p.environment...)
	output, err := shell.CombinedOutput()
	return string(output), err
}

func write(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}
