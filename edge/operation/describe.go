package operation

import (
	"slices"

	"github.com/waybook/waybook/edge/form"
)

// Description is what a client may know of an operation.
type Description struct {
	// Func is the value of the parameter func.
	Func    string
	Variant Variant
	Effect  Effect
	Login   Login
	// Parameters are those that the operation reads, in the order in which a failure
	// names them, but for those that all operations share.
	Parameters []Parameter
}

// Parameter is a parameter as a client may know it.
type Parameter struct {
	Name, Hint string
	IsRequired bool
}

// Describe returns what a client may know of the operation. It reads an empty form as the
// operation would, and so cannot fall behind.
func (o *Operation) Describe() Description {
	d := Description{Func: o.Func, Variant: o.Variant, Effect: o.Effect, Login: o.Login}
	if o.Variant == Deleting {
		d.Parameters = append(d.Parameters, Parameter{paramDelete.Name, paramDelete.Hint, true})
	}
	if o.build == nil {
		return d
	}
	in := &Input{Reader: form.Reader{Form: &form.Form{}}, Caller: nobody{}}
	o.build(in)
	for _, each := range in.Readings() {
		isTwice := func(p Parameter) bool { return p.Name == each.Parameter.Name }
		if !slices.ContainsFunc(d.Parameters, isTwice) {
			d.Parameters = append(d.Parameters, Parameter{each.Parameter.Name, each.Parameter.Hint, each.IsRequired})
		}
	}
	return d
}
