package rules

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math"
	"strconv"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// term is a part of an expression. Its value is a number; 1 is true, and 0 false.
type term func(protoreflect.Message) float64

// operations are those of the expressions in the contracts.
var operations = map[token.Token]func(x, y float64) float64{
	token.LAND: func(x, y float64) float64 { return x * y },
	token.LOR:  math.Max,
	token.EQL:  func(x, y float64) float64 { return truth(x == y) },
	token.NEQ:  func(x, y float64) float64 { return truth(x != y) },
	token.LSS:  func(x, y float64) float64 { return truth(x < y) },
	token.LEQ:  func(x, y float64) float64 { return truth(x <= y) },
	token.GTR:  func(x, y float64) float64 { return truth(x > y) },
	token.REM:  math.Mod,
}

func truth(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// condition reads an expression of CEL about a message. It knows those that mean the same in Go:
// of numbers, fields such as this.order, has(this.box), and operations. A field may be named like
// a keyword of Go.
func condition(message protoreflect.MessageDescriptor, expression string) (func(protoreflect.Message) bool, error) {
	read, err := parser.ParseExpr(strings.ReplaceAll(expression, "this.", "this_"))
	if err != nil {
		return nil, err
	}
	r := &reader{message: message}
	value := r.term(read)
	return func(m protoreflect.Message) bool { return value(m) != 0 }, r.err
}

// reader reads expressions about a message. err is what it does not know.
type reader struct {
	message protoreflect.MessageDescriptor
	err     error
}

func (r *reader) term(read ast.Expr) term {
	switch read := read.(type) {
	case *ast.ParenExpr:
		return r.term(read.X)
	case *ast.BasicLit:
		if n, err := strconv.ParseFloat(read.Value, 64); err == nil {
			return func(protoreflect.Message) float64 { return n }
		}
	case *ast.Ident:
		if field := r.field(read); field != nil && numberOf(field) != nil {
			number := numberOf(field)
			return func(m protoreflect.Message) float64 { return number(m.Get(field)) }
		}
	case *ast.CallExpr:
		if name, ok := read.Fun.(*ast.Ident); ok && name.Name == "has" && len(read.Args) == 1 &&
			r.field(read.Args[0]) != nil {
			field := r.field(read.Args[0])
			return func(m protoreflect.Message) float64 { return truth(m.Has(field)) }
		}
	case *ast.UnaryExpr:
		if x := r.term(read.X); read.Op == token.NOT {
			return func(m protoreflect.Message) float64 { return 1 - x(m) }
		}
	case *ast.BinaryExpr:
		x, y := r.term(read.X), r.term(read.Y)
		if operation := operations[read.Op]; operation != nil {
			return func(m protoreflect.Message) float64 { return operation(x(m), y(m)) }
		}
	}
	r.err = fmt.Errorf("unknown part %T of an expression", read)
	return nil
}

// field returns the field that this.field names, or nil.
func (r *reader) field(read ast.Expr) protoreflect.FieldDescriptor {
	name, ok := read.(*ast.Ident)
	if !ok {
		return nil
	}
	return r.message.Fields().ByName(protoreflect.Name(strings.TrimPrefix(name.Name, "this_")))
}
