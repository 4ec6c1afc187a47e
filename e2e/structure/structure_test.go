// Package structure_test checks the structural rules that no compiler checks: the allowed
// dependencies, and that each module builds on its own.
package structure_test

import (
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

// modules returns the directories of go.work.
func modules(t *testing.T) (directories []string) {
	t.Helper()
	var work struct{ Use []struct{ DiskPath string } }
	if err := json.Unmarshal([]byte(golang(t, ".", "work", "edit", "-json", "go.work")), &work); err != nil {
		t.Fatal(err)
	}
	for _, use := range work.Use {
		directories = append(directories, use.DiskPath)
	}
	if want := []string{".", "./bench", "./deploy", "./e2e", "./examples/search"}; !slices.Equal(directories, want) {
		t.Fatalf("go.work uses %v, want %v: everything that ships is in the root module", directories, want)
	}
	return directories
}

func TestTheEdgeLinksNoStore(t *testing.T) {
	for path := range strings.FieldsSeq(golang(t, "edge", "list", "-deps", ".", "./cmd/edge")) {
		if strings.Contains(path, "docstore") || strings.Contains(path, "bbolt") || strings.Contains(path, "mongo") {
			t.Errorf("the edge depends on %s", path)
		}
	}
}

func TestTheStorageLayerDependsOnNoContract(t *testing.T) {
	for path := range strings.FieldsSeq(golang(t, "internal", "list", "-deps", "./docstore/...")) {
		if strings.HasPrefix(path, "google.golang.org/protobuf") || strings.HasPrefix(path, "google.golang.org/grpc") ||
			strings.HasPrefix(path, "github.com/waybook/waybook/proto") {
			t.Errorf("docstore depends on %s", path)
		}
	}
}

func TestOnlyTheBootstrapAndStorekeepingImportEngines(t *testing.T) {
	const bootstrap = "github.com/waybook/waybook/internal/platform/service"
	const keeper = "github.com/waybook/waybook/waybookctl/storekeeping"
	imports := golang(t, ".", "list", "-f", `{{.ImportPath}}{{range .Imports}} {{.}}{{end}}`, "./...")
	for line := range strings.Lines(imports) {
		importer, imported, _ := strings.Cut(strings.TrimSpace(line), " ")
		if importer == bootstrap || strings.HasPrefix(importer, keeper) || strings.HasPrefix(importer, "github.com/waybook/waybook/internal/docstore") {
			continue
		}
		for path := range strings.FieldsSeq(imported) {
			if strings.HasSuffix(path, "docstore/embedded") || strings.HasSuffix(path, "docstore/mongo") ||
				strings.Contains(path, "bbolt") || strings.Contains(path, "mongo-driver") {
				t.Errorf("%s imports %s", importer, path)
			}
		}
	}
}

func TestAMainStaysUnder40Lines(t *testing.T) {
	count := 0
	for _, module := range modules(t) {
		packages := golang(t, module, "list", "-f", `{{if eq .Name "main"}}{{range .GoFiles}}{{$.Dir}}/{{.}}{{"\n"}}{{end}}{{end}}`, "./...")
		for file := range strings.FieldsSeq(packages) {
			if filepath.Base(file) != "main.go" {
				continue
			}
			content, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			count++
			if lines := strings.Count(string(content), "\n"); lines >= 40 {
				t.Errorf("%s has %d lines", file, lines)
			}
		}
	}
	if count < 6 {
		t.Errorf("found only %d mains", count)
	}
}

// go list -export compiles like go build, and links nothing: other tests link the programs.
func TestEachModuleBuildsWithoutTheWorkspace(t *testing.T) {
	for _, module := range modules(t) {
		t.Run(module, func(t *testing.T) { golang(t, module, "list", "-export", "./...") })
	}
}

func TestTheRootModuleReplacesNothing(t *testing.T) {
	for _, replaced := range replacements(t, ".") {
		t.Errorf("the root go.mod replaces %s: go install of a version rejects that", replaced)
	}
}

func TestANestedModuleReplacesOnlyItsSiblings(t *testing.T) {
	for _, module := range modules(t)[1:] {
		t.Run(module, func(t *testing.T) {
			replaced := replacements(t, module)
			up := strings.Repeat("../", strings.Count(module, "/"))
			if !slices.Contains(replaced, "github.com/waybook/waybook => "+up) {
				t.Errorf("it does not use the root module of this checkout; it replaces %v", replaced)
			}
			for _, each := range replaced {
				if !strings.HasPrefix(each, "github.com/waybook/waybook") || !strings.Contains(each, " => ../") {
					t.Errorf("it replaces %s, which is not a sibling", each)
				}
			}
		})
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
