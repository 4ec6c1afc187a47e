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

// Variant tells apart the operations that share a func.
type Variant int

// The variants of an operation. The comments say which parameter selects them.
const (
	AsWritten Variant = iota // none: the only variant, or the one without the flag of another
	Deleting                 // delete=true
	WithIDs                  // withIDs=true
	OfAlbum                  // albumID
	OfBlog                   // blogID
	OfPoi                    // POIID
	Around                   // lat
	InBox                    // latMin
)

// selectors say which parameter selects a variant.
var selectors = [...]struct {
	// name is the name of the variant for programs.
	name string
	// parameter is nil for AsWritten.
	parameter *form.Parameter
	// isFlag: true selects the variant. Otherwise any value does.
	isFlag bool
}{
	AsWritten: {},
	Deleting:  {"delete", &paramDelete, true},
	WithIDs:   {"withIDs", &paramWithIDs, true},
	OfAlbum:   {"album", &paramAlbumID, false},
	OfBlog:    {"blog", &paramBlogID, false},
	OfPoi:     {"poi", &paramPoiID, false},
	Around:    {"point", &paramNearLat, false},
	InBox:     {"box", &paramLatMin, false},
}

var paramWithIDs = form.Parameter{Name: "withIDs", Hint: paramDelete.Hint, Syntax: form.WordSyntax}

// String returns the name of the variant; that of AsWritten is empty.
func (v Variant) String() string { return selectors[v].name }

// Selector returns the name of the parameter that selects the variant; "" for AsWritten.
func (v Variant) Selector() string {
	if v == AsWritten {
		return ""
	}
	return selectors[v].parameter.Name
}

// Flag returns the parameter whose value true selects the variant; nil if there is none.
func (v Variant) Flag() *form.Parameter {
	if !selectors[v].isFlag {
		return nil
	}
	return selectors[v].parameter
}

// Choose returns the operation that the parameters select (rules 4.16, 4.19 and 17.2). If a flag
// is neither true nor false, it returns the operation that the flag would select, which also
// checks the identifier. If several variants are selected, it returns the first. The recorded
// fault prevents that either does anything.
func (f *Function) Choose(in *Input) *Operation {
	if len(f.variants) == 1 {
		return f.variants[0]
	}
	var selected *form.Parameter
	chosen := f.variants[0]
	for _, each := range f.variants {
		selector := selectors[each.Variant]
		switch {
		case selector.parameter == nil:
		case selector.isFlag:
			isOn := optional(in, selector.parameter, "", form.Flag)
			if in.Faulty() || form.Or(isOn, false) {
				return each
			}
		case !in.Has(selector.parameter):
		case selected == nil:
			chosen, selected = each, selector.parameter
		default:
			in.Reject(selector.parameter, "not with "+selected.Name)
		}
	}
	return chosen
}
