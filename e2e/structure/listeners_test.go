package structure_test

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/constant"
	"go/types"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"text/template"
	"time"

	"github.com/waybook/waybook/edge"
	"github.com/waybook/waybook/internal/platform/service"
)

var update = flag.Bool("update", false, "rewrite the tables in SECURITY.md and docs/callers.md")

// The words of a table are in testdata, and its numbers in the code.
func TestTheTableOfListenersInSecurityIsCurrent(t *testing.T) {
	expectTable(t, "SECURITY.md", "Listeners", "listeners")
}

func TestTheTableOfLimitsForCallersIsCurrent(t *testing.T) {
	expectTable(t, "docs/callers.md", "Limits", "limits")
}

// expectTable expects that a page has a table between two lines that name it, or writes it with -update.
// test selects the test that does so.
func expectTable(t *testing.T, page, test, name string) {
	t.Helper()
	begin := fmt.Sprintf("<!-- begin of the table of %s: go test ./e2e/structure -run %s -update -->\n", name, test)
	end := fmt.Sprintf("<!-- end of the table of %s -->\n", name)
	path := filepath.Join(root, page)
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, hasBegin := strings.Cut(string(content), begin)
	shown, after, hasEnd := strings.Cut(rest, end)
	if !hasBegin || !hasEnd {
		t.Fatalf("%s lacks the lines\n%s%s", path, begin, end)
	}
	want := "\n" + tableOf(t, name) + "\n"
	if *update {
		if err := os.WriteFile(path, []byte(before+begin+want+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if shown != want {
		t.Errorf("the table of %s in %s is stale: run go test ./e2e/structure -run %s -update", name, path, test)
	}
}

// A program that listens somewhere else needs a row, and limits.
func TestEachListenerHasARowInTheTable(t *testing.T) {
	rows := map[string]bool{}
	for _, found := range regexp.MustCompile("(?m)^\\| `-([a-z]+)`").FindAllStringSubmatch(tableOf(t, "listeners"), -1) {
		rows[found[1]] = true
	}
	opened := map[string]bool{}
	code := readCode(t)
	for _, each := range packages(t) {
		if each.ImportPath == module+"internal/platform/tracing/tracingtest" {
			continue // of tests
		}
		checked := code.check(t, each)
		for _, file := range checked.files {
			ast.Inspect(file, func(node ast.Node) bool {
				call, isCall := node.(*ast.CallExpr)
				if !isCall {
					return true
				}
				switch of, name := checked.called(call); {
				case of == module+"internal/platform/process" && (name == "Listen" || name == "ListenGRPC"):
					if value := checked.Types[call.Args[1]].Value; value != nil {
						opened[constant.StringVal(value)] = true
					}
				case (of == "net" || of == "crypto/tls" || of == "net/http") && strings.HasPrefix(name, "Listen") &&
					each.ImportPath != module+"internal/platform/process":
					t.Errorf("%s calls %s.%s; process.Listen opens the ports that the table knows", each.ImportPath, of, name)
				}
				return true
			})
		}
	}
	if !maps.Equal(rows, opened) || len(rows) < 3 {
		t.Errorf("the table has the listeners %v, and programs open %v", slices.Sorted(maps.Keys(rows)), slices.Sorted(maps.Keys(opened)))
	}
}

// called returns the package and the name of the function that a call names, if it names one.
func (c checkedPackage) called(call *ast.CallExpr) (of, name string) {
	var named *ast.Ident
	switch function := call.Fun.(type) {
	case *ast.Ident:
		named = function
	case *ast.SelectorExpr:
		named = function.Sel
	default:
		return "", ""
	}
	if function, ok := c.Uses[named].(*types.Func); ok && function.Pkg() != nil {
		return function.Pkg().Path(), function.Name()
	}
	return "", ""
}

// The edge links no store, and weighs its replies by the pages of the services' stores.
func TestTheEdgeKnowsTheSizeOfAPage(t *testing.T) {
	limit := limitsOf(t)
	weighed, err := limit("edge/pageBytes")
	stored, storedErr := limit("internal/docstore/MaxPageBytes")
	if err := errors.Join(err, storedErr); err != nil || weighed != stored {
		t.Errorf("the edge weighs a page as %d bytes, and one has %d: %v", weighed, stored, err)
	}
}

// limitsOf returns a function that returns a constant of the code, such as edge/sendAt.
func limitsOf(t *testing.T) func(name string) (int64, error) {
	t.Helper()
	code, checked := readCode(t), map[string]checkedPackage{}
	return func(name string) (int64, error) {
		folder, constantName := filepath.Dir(name), filepath.Base(name)
		if _, known := checked[folder]; !known {
			checked[folder] = code.check(t, packageIn(t, folder))
		}
		found, isConstant := checked[folder].scope.Lookup(constantName).(*types.Const)
		if !isConstant {
			return 0, fmt.Errorf("%s has no constant %s", folder, constantName)
		}
		value, isWhole := constant.Int64Val(constant.ToInt(found.Val()))
		if !isWhole {
			return 0, fmt.Errorf("%s is no number", name)
		}
		return value, nil
	}
}

// tableOf returns a table of testdata, with the constants and the defaults of flags in the code.
func tableOf(t *testing.T, name string) string {
	t.Helper()
	flags := flag.NewFlagSet("", flag.PanicOnError)
	new(edge.Flags).Register(flags)
	new(service.Load).Register(flags)
	words := template.FuncMap{
		"limit": limitsOf(t),
		"times": func(a, b int64) int64 { return a * b },
		"count": func(n int64) string { return withCommas(strconv.FormatInt(n, 10)) },
		"bytes": func(n int64) string {
			if n%(1<<20) == 0 {
				return fmt.Sprintf("%d MiB", n>>20)
			}
			return fmt.Sprintf("%d KiB", n>>10)
		},
		"time": func(n int64) string {
			if d := time.Duration(n); d%time.Minute == 0 {
				return fmt.Sprintf("%.0f min", d.Minutes())
			}
			return fmt.Sprintf("%v s", time.Duration(n).Seconds())
		},
		"flag": func(name string) (string, error) {
			found := flags.Lookup(name)
			if found == nil {
				return "", fmt.Errorf("no flag -%s", name)
			}
			return fmt.Sprintf("%s (`-%s`)", withCommas(found.DefValue), name), nil
		},
	}
	table, err := template.New(name + ".md").Funcs(words).ParseFiles("testdata/" + name + ".md")
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := table.Execute(&out, nil); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// withCommas writes a number of four to six digits with a comma.
func withCommas(digits string) string {
	if len(digits) > 3 {
		return digits[:len(digits)-3] + "," + digits[len(digits)-3:]
	}
	return digits
}
