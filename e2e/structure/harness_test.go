package structure_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// handmade are the names by which a test sends HTTP, or assembles a Waybook, without internal/waybooktest.
var handmade = map[string][]string{
	"net/http":                           {"NewRequest", "NewRequestWithContext", "Get", "Head", "Post", "PostForm", "Client", "DefaultClient"},
	"net/http/httptest":                  {"NewRequest", "NewRequestWithContext"},
	module + "standalone/app":            {"Start", "Assemble"},
	module + "services/account":          {"New"},
	module + "edge":                      {"New"},
	module + "internal/platform/service": {"Serve"},
}

// exempt are the files of e2e that may, and why.
var exempt = map[string]string{
	"world/certificates_test.go": "serves programs of the simulated world, whose calls take turns",
	"world/program_test.go":      "assembles programs whose calls take turns on fake time",
}

func TestTestsStartWaybookAndSendFormsByOneHarness(t *testing.T) {
	unused := maps.Clone(exempt)
	folder := filepath.Join(root, "e2e")
	err := filepath.WalkDir(folder, func(file string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(file) != ".go" {
			return err
		}
		name, err := filepath.Rel(folder, file)
		if err != nil {
			return err
		}
		used, err := handmadeIn(file)
		if len(used) > 0 && exempt[name] == "" {
			t.Errorf("%s uses %s: use internal/waybooktest, or say here why not", name, strings.Join(used, ", "))
		}
		if len(used) > 0 {
			delete(unused, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for name := range unused {
		t.Errorf("%s needs no exemption", name)
	}
}

// handmadeIn returns what a file uses of handmade.
func handmadeIn(name string) (used []string, err error) {
	file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	imported := map[string]string{}
	for _, each := range file.Imports {
		from := strings.Trim(each.Path.Value, `"`)
		as := path.Base(from)
		if each.Name != nil {
			as = each.Name.Name
		}
		imported[as] = from
	}
	for node := range ast.Preorder(file) {
		if selector, ok := node.(*ast.SelectorExpr); ok {
			if of, ok := selector.X.(*ast.Ident); ok && slices.Contains(handmade[imported[of.Name]], selector.Sel.Name) {
				used = append(used, of.Name+"."+selector.Sel.Name)
			}
		}
	}
	return used, nil
}
