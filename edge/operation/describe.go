package operation

import (
	"slices"

	"github.com/waybook/waybook/edge/form"
)

// Description describes an operation to clients.
type Description struct {
	// Func is the value of the parameter func.
	Func    string
	Variant Variant
	Effect  Effect
	Login   Login
	// Parameters are the operation's own parameters, in the order in which a failure names them.
	// They leave out the parameters that all operations share.
	Parameters []Parameter
}

// Parameter describes a parameter to clients.
type Parameter struct {
	Name, Hint string
	IsRequired bool
}

// Describe returns the description of the operation. It lets the operation read an empty form,
// so that the description always matches the code.
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
