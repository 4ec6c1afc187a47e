package structure_test

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/waybook/waybook/proto/descriptors"
	accessv1 "github.com/waybook/waybook/proto/gen/waybook/access/v1"
)

// programs are the folders whose code runs under an identity. Those of content run in each of
// its services.
func programs() map[string][]string {
	return map[string][]string{
		"edge":    {"./edge/..."},
		"account": {"./services/account/..."},
		"album":   {"./services/album/...", "./internal/content/..."},
		"blog":    {"./services/blog/...", "./internal/content/..."},
		"poi":     {"./services/poi/...", "./internal/content/..."},
	}
}

// A caller that may call what it does not need is a way to take over accounts. One that may not
// call what it needs does not work.
func TestAProgramMayCallWhatItsCodeCallsAndNothingElse(t *testing.T) {
	allowed := map[string][]string{}
	methods, err := descriptors.Methods()
	if err != nil {
		t.Fatal(err)
	}
	for _, method := range methods {
		access, ok := proto.GetExtension(method.GetOptions(), accessv1.E_Access).(*accessv1.Access)
		if !ok {
			t.Fatalf("%s declares no access", method.FullName)
		}
		for _, caller := range access.GetCallers() {
			allowed[caller] = append(allowed[caller], method.FullName)
		}
	}
	for caller := range allowed {
		if programs()[caller] == nil {
			t.Errorf("%s is no program", caller)
		}
	}
	code := readCode(t)
	for program, folders := range programs() {
		called := code.calledMethods(t, folders...)
		slices.Sort(allowed[program])
		if !slices.Equal(called, allowed[program]) {
			t.Errorf("%s calls\n%s\nand may call\n%s", program, strings.Join(called, "\n"), strings.Join(allowed[program], "\n"))
		}
	}
}

// codeOfPrograms reads the packages of all programs. They share what is read about the imported ones.
type codeOfPrograms struct {
	own       []goPackage
	positions *token.FileSet
	imported  types.Importer
}

func readCode(t *testing.T) *codeOfPrograms {
	t.Helper()
	exports := map[string]string{}
	for _, each := range listed(t) {
		exports[each.ImportPath] = each.Export
	}
	c := &codeOfPrograms{own: packages(t), positions: token.NewFileSet()}
	c.imported = importer.ForCompiler(c.positions, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	return c
}

// calledMethods returns the full names of the methods of generated clients that the code of
// some folders names, in alphabetical order.
func (c *codeOfPrograms) calledMethods(t *testing.T, folders ...string) []string {
	t.Helper()
	called := map[string]bool{}
	for _, folder := range folders {
		within := module + strings.TrimSuffix(strings.TrimPrefix(folder, "./"), "...")
		checked := 0
		for _, each := range c.own {
			if strings.HasPrefix(each.ImportPath+"/", within) {
				maps.Copy(called, c.clientMethods(t, each))
				checked++
			}
		}
		if checked == 0 {
			t.Errorf("%s has no package", folder)
		}
	}
	return slices.Sorted(maps.Keys(called))
}

// clientMethods returns the methods of generated clients that a package names.
func (c *codeOfPrograms) clientMethods(t *testing.T, of goPackage) map[string]bool {
	t.Helper()
	checked := c.check(t, of)
	found := map[string]bool{}
	for _, selection := range checked.Selections {
		receiver, ok := types.Unalias(selection.Recv()).(*types.Named)
		if !ok || receiver.Obj().Pkg() == nil {
			continue
		}
		contract, isContract := strings.CutPrefix(receiver.Obj().Pkg().Path(), module+"proto/gen/")
		service, isClient := strings.CutSuffix(receiver.Obj().Name(), "Client")
		if isContract && isClient {
			found["/"+strings.ReplaceAll(contract, "/", ".")+"."+service+"/"+selection.Obj().Name()] = true
		}
	}
	return found
}

// checkedPackage is a package with what its names mean.
type checkedPackage struct {
	types.Info
	files []*ast.File
	scope *types.Scope
}

// check checks the types of a package.
func (c *codeOfPrograms) check(t *testing.T, checked goPackage) checkedPackage {
	t.Helper()
	result := checkedPackage{Info: types.Info{
		Selections: map[*ast.SelectorExpr]*types.Selection{}, Uses: map[*ast.Ident]types.Object{}, Types: map[ast.Expr]types.TypeAndValue{},
	}}
	for _, name := range checked.GoFiles {
		file, err := parser.ParseFile(c.positions, filepath.Join(checked.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		result.files = append(result.files, file)
	}
	config := types.Config{Importer: c.imported}
	made, err := config.Check(checked.ImportPath, c.positions, result.files, &result.Info)
	if err != nil {
		t.Fatal(err)
	}
	result.scope = made.Scope()
	return result
}
