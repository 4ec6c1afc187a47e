package form

import (
	"cmp"

	"github.com/waybook/waybook/edge/failure"
)

// Parameter is one parameter of the interface.
type Parameter struct {
	// Name is the name in the form and in the info of a failure.
	Name string
	// Hint tells people which values are valid.
	Hint string
	// Syntax is the form of the values.
	Syntax Syntax
	// Range is the range of a number that the edge itself checks. It is nil if the services do.
	Range *Range
	// OneOf names the parameters of which one must be sent, and this is one; empty if it is the
	// only one.
	OneOf string
}

// Range is a range of integers, both ends included.
type Range struct{ Min, Max int64 }

// Includes reports whether a number is in the range.
func (r *Range) Includes(n int64) bool { return r.Min <= n && n <= r.Max }

// Missing returns the failure of a request without the parameter.
func (p Parameter) Missing() *failure.Failure {
	return &failure.Failure{Reason: "MISSING_PARAMETER", Info: "MISSING PARAMETER: " + cmp.Or(p.OneOf, p.Name)}
}

// Invalid returns the failure of a request with an invalid value of the parameter.
func (p Parameter) Invalid() *failure.Failure {
	return &failure.Failure{Reason: "INVALID_PARAMETER", Info: "INVALID PARAMETER: " + p.Name + " (" + p.Hint + ")"}
}

// Unreadable returns the failure of a request with a value of the parameter that is not valid text.
func (p Parameter) Unreadable() *failure.Failure {
	return &failure.Failure{Reason: "INVALID_ENCODING", Info: "INVALID ENCODING: " + p.Name}
}

// malformed returns the failure of a request with a value that does not have the syntax.
func (p Parameter) malformed() *failure.Failure {
	p.Hint = p.Syntax.describe(p.Hint)
	return p.Invalid()
}
