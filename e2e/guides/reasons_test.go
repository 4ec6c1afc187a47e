package guides_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"

	"github.com/waybook/waybook/internal/platform/apierror"
)

// failure is a reason with its status code.
type failure struct{ code, reason string }

func TestTheGuideForInternalCallersHasTheReasonsOfTheCode(t *testing.T) {
	t.Parallel()
	inCode, inGuide := reasonsOfTheCode(t), reasonsOfTheGuide(t)
	if len(inCode) < 25 {
		t.Errorf("only %d reasons were found in the code", len(inCode))
	}
	for each, file := range inCode {
		if !inGuide[each] {
			t.Errorf("%s fails with %s (%s), which the guide does not name", file, each.code, each.reason)
		}
	}
	for each := range inGuide {
		if _, is := inCode[each]; !is {
			t.Errorf("the guide names %s (%s), with which no code fails", each.code, each.reason)
		}
	}
}

// reasonsOfTheGuide reads the table of docs/grpc.md.
func reasonsOfTheGuide(t *testing.T) map[failure]bool {
	t.Helper()
	found := map[failure]bool{}
	row := regexp.MustCompile("(?m)^\\| (?:`([A-Z_]+)` )?\\| (`[A-Z_`, ]+`) \\|")
	var code codes.Code
	for _, match := range row.FindAllStringSubmatch(read(t, docs+"grpc.md"), -1) {
		if match[1] != "" {
			if err := code.UnmarshalJSON([]byte(strconv.Quote(match[1]))); err != nil {
				t.Fatal(err)
			}
		}
		for reason := range strings.SplitSeq(match[2], ", ") {
			found[failure{code.String(), strings.Trim(reason, "`")}] = true
		}
	}
	return found
}

// reasonsOfTheCode returns the reasons that the services give to package apierror, with a file that
// gives each.
func reasonsOfTheCode(t *testing.T) map[failure]string {
	t.Helper()
	found := map[failure]string{}
	for _, root := range []string{"../../services", "../../internal"} {
		err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
			if err == nil {
				ast.Inspect(file, func(node ast.Node) bool {
					if given := failureOf(node); given.reason != "" {
						found[given] = path
					}
					return true
				})
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return found
}

// reasonConstants are the reasons that have names.
var reasonConstants = map[string]string{"ReasonNotOwner": apierror.ReasonNotOwner, "ReasonNotAllowed": apierror.ReasonNotAllowed}

// failureOf returns the failure that a node makes: New(codes.X, "REASON"), NotFound("REASON"),
// Invalid("REASON") or a field NotFound: "REASON".
func failureOf(node ast.Node) failure {
	switch node := node.(type) {
	case *ast.KeyValueExpr:
		if isNamed(node.Key, "NotFound") {
			return failure{codes.NotFound.String(), textOf(node.Value)}
		}
	case *ast.CallExpr:
		switch {
		case len(node.Args) == 0:
		case isNamed(node.Fun, "NotFound"):
			return failure{codes.NotFound.String(), textOf(node.Args[0])}
		case isNamed(node.Fun, "Invalid"):
			return failure{codes.InvalidArgument.String(), textOf(node.Args[0])}
		case isNamed(node.Fun, "New") && len(node.Args) > 1:
			if code, ok := node.Args[0].(*ast.SelectorExpr); ok && isNamed(code.X, "codes") {
				return failure{code.Sel.Name, textOf(node.Args[1])}
			}
		}
	}
	return failure{}
}

// isNamed reports whether an expression is a name, or a selector that ends with it.
func isNamed(expression ast.Expr, name string) bool {
	if selector, ok := expression.(*ast.SelectorExpr); ok {
		return selector.Sel.Name == name
	}
	identifier, ok := expression.(*ast.Ident)
	return ok && identifier.Name == name
}

// textOf returns the text of a literal or of a constant for a reason; otherwise "".
func textOf(expression ast.Expr) string {
	for name, reason := range reasonConstants {
		if isNamed(expression, name) {
			return reason
		}
	}
	literal, ok := expression.(*ast.BasicLit)
	if !ok || literal.Kind != token.STRING {
		return ""
	}
	text, err := strconv.Unquote(literal.Value)
	if err != nil {
		return ""
	}
	return text
}
