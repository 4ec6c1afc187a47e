//go:build !race

package structure_test

import (
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	gomodule "golang.org/x/mod/module"
	"golang.org/x/mod/zip"
)

// published is the version under which a test publishes the checkout.
var published = gomodule.Version{Path: "github.com/waybook/waybook", Version: "v0.0.1-test"}

// publish makes a module proxy that has the checkout's root module, as the file tree that
// the go command reads with GOPROXY=file://…, and returns its directory.
func publish(t *testing.T) string {
	t.Helper()
	proxy := t.TempDir()
	versions := filepath.Join(proxy, published.Path, "@v")
	if err := os.MkdirAll(versions, 0o700); err != nil {
		t.Fatal(err)
	}
	info, err := json.Marshal(map[string]any{"Version": published.Version, "Time": time.Unix(0, 0).UTC()})
	if err != nil {
		t.Fatal(err)
	}
	requirements, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{
		"list": []byte(published.Version + "\n"), published.Version + ".info": info, published.Version + ".mod": requirements,
	} {
		if err := os.WriteFile(filepath.Join(versions, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	archive, err := os.Create(filepath.Join(versions, published.Version+".zip"))
	if err != nil {
		t.Fatal(err)
	}
	// Leaves out the nested modules, as every proxy does.
	if err := zip.Create(archive, published, tracked(t)); err != nil {
		t.Fatal(err)
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	return proxy
}

// tracked returns the files that git tracks, with their content of now. A file that
// somebody forgot to add is missing here as it would be for everybody else.
func tracked(t *testing.T) (files []zip.File) {
	t.Helper()
	list, err := exec.CommandContext(t.Context(), "git", "-C", root, "ls-files", "-z").Output()
	if err != nil {
		t.Fatalf("git ls-files: %v; this test needs a git checkout", err)
	}
	for path := range strings.SplitSeq(strings.TrimSuffix(string(list), "\x00"), "\x00") {
		if _, err := os.Lstat(filepath.Join(root, path)); err == nil { // else it was deleted, and not yet in the index
			files = append(files, file(path))
		}
	}
	return files
}

// file is a zip.File of the checkout, a path relative to its root.
type file string

func (f file) Path() string                 { return string(f) }
func (f file) Lstat() (os.FileInfo, error)  { return os.Lstat(filepath.Join(root, string(f))) }
func (f file) Open() (io.ReadCloser, error) { return os.Open(filepath.Join(root, string(f))) }
