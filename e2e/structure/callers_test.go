package structure_test

import (
	"encoding/json"
	"errors"
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
	for program, folders := range programs() {
		called := calledMethods(t, folders...)
		slices.Sort(allowed[program])
		if !slices.Equal(called, allowed[program]) {
			t.Errorf("%s calls\n%s\nand may call\n%s", program, strings.Join(called, "\n"), strings.Join(allowed[program], "\n"))
		}
	}
}

// listed is a package in the output of go list.
type listed struct {
	ImportPath, Dir, Export string
	GoFiles                 []string
	DepOnly                 bool
}

// calledMethods returns the full names of the methods of generated clients that the code of
// some folders names, in alphabetical order.
func calledMethods(t *testing.T, folders ...string) []string {
	t.Helper()
	exports := map[string]string{}
	var own []listed
	output := golang(t, ".", append([]string{"list", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles,DepOnly"}, folders...)...)
	for decoder := json.NewDecoder(strings.NewReader(output)); ; {
		var each listed
		if err := decoder.Decode(&each); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		exports[each.ImportPath] = each.Export
		if !each.DepOnly {
			own = append(own, each)
		}
	}
	called := map[string]bool{}
	for _, each := range own {
		for name := range clientMethods(t, each, exports) {
			called[name] = true
		}
	}
	return slices.Sorted(maps.Keys(called))
}

// clientMethods checks the types of a package. It returns the methods of generated clients
// that the package names.
func clientMethods(t *testing.T, checked listed, exports map[string]string) map[string]bool {
	t.Helper()
	positions := token.NewFileSet()
	var files []*ast.File
	for _, name := range checked.GoFiles {
		file, err := parser.ParseFile(positions, filepath.Join(checked.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	config := types.Config{Importer: importer.ForCompiler(positions, "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(exports[path])
	})}
	info := types.Info{Selections: map[*ast.SelectorExpr]*types.Selection{}}
	if _, err := config.Check(checked.ImportPath, positions, files, &info); err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, selection := range info.Selections {
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
