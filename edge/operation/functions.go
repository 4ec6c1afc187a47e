package operation

import (
	"slices"
	"strings"

	"github.com/waybook/waybook/edge/form"
)

// Function is what the parameter func selects: an operation, or several that other parameters tell
// apart.
type Function struct {
	// Name is the value of func.
	Name string
	// Rule is the rule of docs/contract.md that says what it does.
	Rule string
	// Title is the name for people.
	Title  form.Title
	Effect Effect
	// IsAddition says that the legacy contract does not have the function.
	IsAddition bool
	// IsOfLogin says that the function serves those who log in here: it opens or closes a session,
	// or sets a password.
	IsOfLogin bool
	// IsForStrangers says that a write needs no session, and IsOwn that a read needs one: it is of
	// what only the user may see.
	IsForStrangers, IsOwn bool
	// File is the name of the file that a request may have; "" if it may have none.
	File       string
	Operations []Operation
}

// NeedsLogin reports whether the function is for users with a session only.
func (f *Function) NeedsLogin() bool { return f.Effect == Writes && !f.IsForStrangers || f.IsOwn }

// only returns the operation of a function that has no other.
func only(h handler) []Operation { return []Operation{{handler: h}} }

// Table returns the functions that an edge has, those of the legacy contract first (rule 1.3).
func Table(c *Config) (table []Function) {
	for _, each := range all {
		f := each(c)
		switch {
		case f.IsOfLogin && c.Sessions == OpenedElsewhere, f.IsAddition && c.Additions == AdditionsWithheld:
			continue
		case c.Additions == AdditionsWithheld:
			f.Operations = slices.DeleteFunc(f.Operations, func(o Operation) bool { return o.Variant == WithIDs })
		}
		table = append(table, f)
	}
	return table
}

// Find returns the function of a table that a form names. It fails if the form names none or an
// unknown one.
func Find(table []Function, sent *form.Form) (*Function, error) {
	parameter := form.Parameter{Name: "func"}
	name, found := sent.Get(parameter.Name)
	switch found {
	case form.Absent:
		return nil, parameter.Missing()
	case form.Unreadable:
		return nil, parameter.Unreadable()
	}
	for i := range table {
		if table[i].Name == name {
			return &table[i], nil
		}
	}
	for _, each := range table {
		parameter.Hint += ", " + each.Name
	}
	parameter.Hint = strings.Replace(parameter.Hint, ", ", "one of ", 1)
	return nil, parameter.Invalid()
}

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
	// name is the name of the variant for programs, and title the one for people.
	name      string
	title     form.Title
	parameter *form.Parameter
	// isFlag: true selects the variant. Otherwise any value does.
	isFlag bool
}{
	AsWritten: {parameter: &form.Parameter{}},
	Deleting:  {"delete", paramDelete.Title, &paramDelete, true},
	WithIDs:   {"withIDs", form.Title{"with identifiers", "含識別碼"}, &paramWithIDs, true},
	OfAlbum:   {"album", form.Title{"album", "相簿"}, &paramAlbumID, false},
	OfBlog:    {"blog", form.Title{"diary entry", "日記"}, &paramBlogID, false},
	OfPoi:     {"poi", form.Title{"landmark", "地標"}, &paramPoiID, false},
	Around:    {"point", form.Title{"around a point", "某點周圍"}, &paramNearLat, false},
	InBox:     {"box", form.Title{"in a box", "範圍內"}, &paramLatMin, false},
}

// MarshalText returns the name of the variant; that of AsWritten is empty.
func (v Variant) MarshalText() ([]byte, error) { return []byte(selectors[v].name), nil }

// Selector returns the name of the parameter that selects the variant; "" for AsWritten.
func (v Variant) Selector() string { return selectors[v].parameter.Name }

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
	var selected *form.Parameter
	chosen := &f.Operations[0]
	for i := range f.Operations {
		each := &f.Operations[i]
		selector := &selectors[each.Variant]
		switch {
		case each.Variant == AsWritten:
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
