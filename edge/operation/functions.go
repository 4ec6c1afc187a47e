package operation

import (
	"strings"

	"github.com/waybook/waybook/edge/form"
)

// Functions finds operations by the parameter func. It is safe for concurrent use.
type Functions struct {
	byName map[string]*Function
	// parameter is func; its hint lists the functions.
	parameter form.Parameter
}

// Function is the operations that share a func. All have the same Effect and Login, because the
// edge checks both before it chooses among them.
type Function struct {
	// variants are in the order of the table.
	variants []*Operation
}

// NewFunctions returns the functions of a table.
func NewFunctions(table []Operation) *Functions {
	f := &Functions{byName: make(map[string]*Function, len(table))}
	var names []string
	for i := range table {
		row := &table[i]
		if f.byName[row.Func] == nil {
			f.byName[row.Func] = new(Function)
			names = append(names, row.Func)
		}
		function := f.byName[row.Func]
		function.variants = append(function.variants, row)
	}
	f.parameter = form.Parameter{Name: "func", Hint: "one of " + strings.Join(names, ", ")}
	return f
}

// Find returns the function that a form names. It fails if the form names none or an unknown
// one.
func (f *Functions) Find(sent *form.Form) (*Function, error) {
	name, found := sent.Get(f.parameter.Name)
	switch found {
	case form.Absent:
		return nil, f.parameter.Missing()
	case form.Unreadable:
		return nil, f.parameter.Unreadable()
	}
	function, known := f.byName[name]
	if !known {
		return nil, f.parameter.Invalid()
	}
	return function, nil
}

// Name returns the value of func.
func (f *Function) Name() string { return f.variants[0].Func }

// Effect returns the effect that all operations of the function have.
func (f *Function) Effect() Effect { return f.variants[0].Effect }

// Login returns the login that all operations of the function need.
func (f *Function) Login() Login { return f.variants[0].Login }
