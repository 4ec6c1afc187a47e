package structure_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
)

// goPackage is a package in the output of go list.
type goPackage struct {
	ImportPath, Dir string
	// Export is the file of what the package exports.
	Export  string
	GoFiles []string
	// Deps has all packages that the package depends on.
	Imports, TestImports, XTestImports, Deps []string
	// DepOnly marks a package outside the root module.
	DepOnly bool
}

// list lists the packages of the root module and all that they depend on, once for all tests. It uses
// the workspace and the flags of the tester, so that all of them are built already.
var list = sync.OnceValues(func() (all []goPackage, err error) {
	command := exec.Command("go", "list", "-export", "-deps",
		"-json=ImportPath,Dir,Export,GoFiles,Imports,TestImports,XTestImports,Deps,DepOnly", "./...")
	command.Dir = root
	var failed strings.Builder
	command.Stderr = &failed
	output, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w\n%s", err, failed.String())
	}
	for decoder := json.NewDecoder(strings.NewReader(string(output))); ; {
		var each goPackage
		switch err := decoder.Decode(&each); {
		case errors.Is(err, io.EOF):
			return all, nil
		case err != nil:
			return nil, err
		}
		all = append(all, each)
	}
})

func listed(t *testing.T) []goPackage {
	t.Helper()
	all, err := list()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// packages returns the packages of the root module.
func packages(t *testing.T) []goPackage {
	t.Helper()
	return slices.DeleteFunc(slices.Clone(listed(t)), func(each goPackage) bool { return each.DepOnly })
}

// packageIn returns the package in a folder of the root module.
func packageIn(t *testing.T, folder string) goPackage {
	t.Helper()
	for _, each := range packages(t) {
		if each.ImportPath == module+folder {
			return each
		}
	}
	t.Fatalf("there is no package %s", folder)
	return goPackage{}
}
