package naughty

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// table is what the edge's own source says of its operations, so that what is added there
// is tried here by itself.
type table struct {
	// own are the parameters that each function of the interface takes by itself.
	own map[string][]string
	// shared are those that are read before a function is known, for all of them.
	shared []string
}

// source is a package's functions, and the names of its parameters by their variables.
type source struct {
	functions  map[string]*ast.FuncDecl
	parameters map[string]string
}

func readTable(t *testing.T) table {
	t.Helper()
	edge := readSource(t, "../../edge")
	read := map[string]map[string]bool{}
	isRead := map[string]bool{}
	for _, list := range []string{"legacyOperations", "additions"} {
		ast.Inspect(edge.functions[list], func(node ast.Node) bool {
			row, ok := node.(*ast.CompositeLit)
			if !ok || len(row.Elts) != 5 {
				return true
			}
			function := unquoted(t, row.Elts[0])
			if read[function] == nil {
				read[function] = map[string]bool{}
			}
			if variant, ok := row.Elts[1].(*ast.Ident); ok && variant.Name == "deleting" {
				read[function]["paramDelete"] = true
			}
			edge.reach(row.Elts[4], read[function], map[string]bool{})
			maps.Copy(isRead, read[function])
			return false
		})
	}
	all := table{own: map[string][]string{}}
	for function, variables := range read {
		names := map[string]bool{}
		for variable := range variables {
			names[edge.parameters[variable]] = true
		}
		all.own[function] = slices.Sorted(maps.Keys(names))
	}
	for variable, name := range edge.parameters {
		// That of a whole date has the name of another, and no value.
		if !isRead[variable] && !slices.Contains(all.shared, name) {
			all.shared = append(all.shared, name)
		}
	}
	slices.Sort(all.shared)
	return all
}

func readSource(t *testing.T, folder string) source {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	read := source{functions: map[string]*ast.FuncDecl{}, parameters: map[string]string{}}
	files := token.NewFileSet()
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(files, path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, declared := range file.Decls {
			switch declared := declared.(type) {
			case *ast.FuncDecl:
				if declared.Recv == nil {
					read.functions[declared.Name.Name] = declared
				}
			case *ast.GenDecl:
				for _, each := range declared.Specs {
					if each, ok := each.(*ast.ValueSpec); ok && len(each.Values) == 1 {
						if name, ok := parameterName(t, each.Values[0]); ok {
							read.parameters[each.Names[0].Name] = name
						}
					}
				}
			}
		}
	}
	return read
}

// parameterName is the name in a literal of the type parameter.
func parameterName(t *testing.T, value ast.Expr) (string, bool) {
	t.Helper()
	literal, ok := value.(*ast.CompositeLit)
	if !ok {
		return "", false
	}
	if kind, ok := literal.Type.(*ast.Ident); !ok || kind.Name != "parameter" {
		return "", false
	}
	first := literal.Elts[0]
	if named, ok := first.(*ast.KeyValueExpr); ok {
		first = named.Value
	}
	return unquoted(t, first), true
}

func unquoted(t *testing.T, value ast.Expr) string {
	t.Helper()
	text, err := strconv.Unquote(value.(*ast.BasicLit).Value)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// reach notes the parameters that some code names, itself or in the functions that it
// names.
func (s source) reach(code ast.Node, parameters, visited map[string]bool) {
	ast.Inspect(code, func(node ast.Node) bool {
		named, ok := node.(*ast.Ident)
		if !ok {
			return true
		}
		if _, ok := s.parameters[named.Name]; ok {
			parameters[named.Name] = true
		}
		if function := s.functions[named.Name]; function != nil && !visited[named.Name] {
			visited[named.Name] = true
			s.reach(function.Body, parameters, visited)
		}
		return true
	})
}

func TestTheTableIsReadWithEveryParameter(t *testing.T) {
	read := readTable(t)
	for function, want := range map[string]string{
		"addAlbum":         "albumTitle category lat lng",
		"updateAlbum":      "albumID albumTitle category delete lat lng",
		"getUserAlbumList": "after limit userID",
		"login":            "email password",
		"logout":           "",
	} {
		if got := strings.Join(read.own[function], " "); got != want {
			t.Errorf("%s takes %s, want %s", function, got, want)
		}
	}
	if got := strings.Join(read.shared, " "); got != "func key responseFormat sig ts" {
		t.Errorf("all take %s", got)
	}
}
