package form

import "github.com/waybook/waybook/edge/failure"

// Parameter is one parameter of the interface.
type Parameter struct {
	// Name is how the form and the info of a failure spell it.
	Name string
	// Hint tells a person which values it takes.
	Hint string
}

// Missing is the failure of a request without the parameter.
func (p Parameter) Missing() *failure.Failure {
	return &failure.Failure{Reason: "MISSING_PARAMETER", Info: "MISSING PARAMETER: " + p.Name}
}

// Invalid is the failure of a request whose parameter has a value that it cannot take.
func (p Parameter) Invalid() *failure.Failure {
	return &failure.Failure{Reason: "INVALID_PARAMETER", Info: "INVALID PARAMETER: " + p.Name + " (" + p.Hint + ")"}
}
