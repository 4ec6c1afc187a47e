package edge

import (
	"errors"
	"strings"

	"buf.build/go/protovalidate"
	"google.golang.org/protobuf/proto"
)

// input is a form as one operation reads it. It remembers which parameters the
// operation read, in which order, and what was wrong with each: that order is
// the order in which a failure names them.
type input struct {
	form     *form
	user     userID
	readings []reading
}

type reading struct {
	parameter *parameter
	state     state
}

type state int

const (
	stateGood    state = iota
	stateAbsent        // optional and not sent
	stateMissing       // required and not sent
	stateInvalid
)

// required reads a parameter that must be there. After a fault it returns the
// zero value; complaint then keeps the request from being sent.
func required[T any](in *input, p *parameter, convert func(string) (T, bool)) T {
	value, state := read(in, p, convert)
	if state == stateAbsent {
		state = stateMissing
	}
	in.readings = append(in.readings, reading{p, state})
	return value
}

// requiredInBody reads a parameter that must be there, and not in the query: the
// address of a request is written down in logs and histories on its way. One that
// is there is refused even if the body has it too.
func requiredInBody[T any](in *input, p *parameter, convert func(string) (T, bool)) T {
	if in.form.inQuery(p.name) {
		misplaced := &parameter{name: p.name, hint: "send it in the body"}
		in.readings = append(in.readings, reading{misplaced, stateInvalid})
		var zero T
		return zero
	}
	return required(in, p, convert)
}

// optional reads a parameter that may be absent, which is nil.
func optional[T any](in *input, p *parameter, convert func(string) (T, bool)) *T {
	value, state := read(in, p, convert)
	in.readings = append(in.readings, reading{p, state})
	if state != stateGood {
		return nil
	}
	return new(value)
}

func read[T any](in *input, p *parameter, convert func(string) (T, bool)) (T, state) {
	raw, present := in.form.get(p.name)
	if !present {
		var zero T
		return zero, stateAbsent
	}
	value, ok := convert(raw)
	if !ok {
		return value, stateInvalid
	}
	return value, stateGood
}

// imply makes a violation of p's fields known without reading a value.
func (in *input) imply(p *parameter) {
	in.readings = append(in.readings, reading{p, stateGood})
}

// complaint returns nil when every parameter could be read. Otherwise it asks
// the contract's own rules about the parameters that could, so that one failure
// names all violations. A request without a fault is left to the service, which
// applies the same rules.
func (in *input) complaint(validator protovalidate.Validator, request proto.Message) error {
	if !in.faulty() {
		return nil
	}
	var invalid *protovalidate.ValidationError
	if err := validator.Validate(request); errors.As(err, &invalid) {
		for _, violation := range invalid.Violations {
			in.refuse(protovalidate.FieldPathString(violation.Proto.GetField()))
		}
	}
	return in.failure()
}

func (in *input) faulty() bool {
	for _, r := range in.readings {
		if r.state >= stateMissing {
			return true
		}
	}
	return false
}

// refuse marks the parameter that feeds a field as invalid. It does nothing
// when the parameter was not sent or is known to be at fault, and when no
// parameter feeds the field.
func (in *input) refuse(field string) {
	for i := range in.readings {
		r := &in.readings[i]
		if r.state == stateGood && r.parameter.feeds(field) && !in.faultyName(r.parameter.name) {
			r.state = stateInvalid
			return
		}
	}
}

func (in *input) faultyName(name string) bool {
	for _, r := range in.readings {
		if r.parameter.name == name && r.state >= stateMissing {
			return true
		}
	}
	return false
}

// failure names every fault in the order of the readings; nil when none is.
// The stable reason is that of the first.
func (in *input) failure() *failure {
	var reason string
	var info strings.Builder
	for _, r := range in.readings {
		if r.state < stateMissing {
			continue
		}
		f := missingParameter(r.parameter)
		if r.state == stateInvalid {
			f = invalidParameter(r.parameter)
		}
		if reason == "" {
			reason = f.reason
		} else {
			info.WriteString("; ")
		}
		info.WriteString(f.info)
	}
	if reason == "" {
		return nil
	}
	return &failure{reason: reason, info: info.String()}
}
