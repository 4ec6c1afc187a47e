// Package structure_test checks the structural rules that no compiler checks, such as the allowed
// dependencies. A step of .ci/run builds each module on its own.
package structure_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	_ "github.com/waybook/waybook/e2e/launch" // depends on the programs, so a change to them invalidates cached test results
)

const root = "../.."

// golang runs the go command in a module, without the workspace, and returns its output.
func golang(t *testing.T, module string, args ...string) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), "go", args...)
	command.Dir = filepath.Join(root, module)
	command.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=readonly")
	var failed strings.Builder
	command.Stderr = &failed
	output, err := command.Output()
	if err != nil {
		t.Fatalf("go %s in %s: %v\n%s", strings.Join(args, " "), module, err, failed.String())
	}
	return string(output)
}

func TestTheEdgeLinksNoStore(t *testing.T) {
	for _, path := range slices.Concat(packageIn(t, "edge").Deps, packageIn(t, "edge/cmd/edge").Deps) {
		if strings.Contains(path, "docstore") || strings.Contains(path, "bbolt") || strings.Contains(path, "mongo") {
			t.Errorf("the edge depends on %s", path)
		}
	}
}

func TestTheStorageLayerDependsOnNoContract(t *testing.T) {
	for _, each := range packages(t) {
		if !isIn(folder(each.ImportPath), "internal/docstore", "internal/storetest") {
			continue
		}
		for _, path := range each.Deps {
			if strings.HasPrefix(path, "google.golang.org/protobuf") || strings.HasPrefix(path, "google.golang.org/grpc") || isIn(folder(path), "proto") {
				t.Errorf("%s depends on %s", each.ImportPath, path)
			}
		}
	}
}

func TestOnlyTheBootstrapAndStorekeepingImportEngines(t *testing.T) {
	for _, each := range packages(t) {
		if isIn(folder(each.ImportPath), "internal/platform/service", "waybookctl/storekeeping", "internal/docstore", "internal/storetest", "internal/blob/gridfs") {
			continue
		}
		for _, path := range each.Imports {
			if strings.HasSuffix(path, "docstore/embedded") || strings.HasSuffix(path, "docstore/mongo") ||
				strings.Contains(path, "bbolt") || strings.Contains(path, "mongo-driver") {
				t.Errorf("%s imports %s", each.ImportPath, path)
			}
		}
	}
}

// A program that go install builds has no build tags, and the machine may have no zone files.
func TestWhoeverLooksUpATimeZoneLinksTheZones(t *testing.T) {
	links, found := map[string]bool{}, 0
	for _, each := range packages(t) {
		links[each.ImportPath] = slices.Contains(each.Imports, "time/tzdata")
	}
	for _, each := range packages(t) {
		for _, name := range each.GoFiles {
			source, err := os.ReadFile(filepath.Join(each.Dir, name))
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Contains(source, []byte("time.LoadLocation(")) {
				continue
			}
			found++
			if !slices.ContainsFunc(append(each.Deps, each.ImportPath), func(path string) bool { return links[path] }) {
				t.Errorf("%s calls time.LoadLocation, and nothing that it imports imports time/tzdata", filepath.Join(folder(each.ImportPath), name))
			}
		}
	}
	if found < 2 {
		t.Errorf("only %d files look up a time zone", found)
	}
}

func TestTheRootModuleReplacesNothing(t *testing.T) {
	for _, replaced := range replacements(t, ".") {
		t.Errorf("the root go.mod replaces %s: go install of a version rejects that", replaced)
	}
}

// replacements returns a module's replace directives.
func replacements(t *testing.T, module string) (replaced []string) {
	t.Helper()
	var file struct {
		Replace []struct {
			Old struct{ Path string }
			New struct{ Path string }
		}
	}
	if err := json.Unmarshal([]byte(golang(t, module, "mod", "edit", "-json")), &file); err != nil {
		t.Fatal(err)
	}
	for _, replace := range file.Replace {
		replaced = append(replaced, replace.Old.Path+" => "+replace.New.Path)
	}
	return replaced
}
