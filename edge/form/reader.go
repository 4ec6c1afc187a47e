package form

import (
	"strings"

	"github.com/waybook/waybook/edge/failure"
)

// Reader reads the parameters of a form into the fields of a request. It remembers which
// parameters were read, in which order, and what was wrong with each: a failure names
// them in that order. One goroutine uses it.
type Reader struct {
	Form     *Form
	readings []reading
}

// reading is a parameter that was read, and the field of the request that it feeds.
type reading struct {
	parameter *Parameter
	field     string
	// isRequired says that the parameter must be there.
	isRequired bool
	state      state
}

type state int

const (
	stateGood    state = iota
	stateAbsent        // optional and not sent
	stateMissing       // required and not sent
	stateInvalid
)

// Required reads a parameter that must be there. field is the path of the field that its
// value goes to, as a google.rpc.BadRequest spells it, or empty when it goes to none. After
// a fault Required returns the zero value; the request must not be sent then.
func Required[T any](r *Reader, p *Parameter, field string, convert func(string) (T, bool)) T {
	value, state := read(r, p, convert)
	if state == stateAbsent {
		state = stateMissing
	}
	r.readings = append(r.readings, reading{p, field, true, state})
	return value
}

// RequiredInBody reads a parameter that must be in the body and not in the query: the
// address of a request ends up in logs and histories. One in the query is refused even if
// the body has it too.
func RequiredInBody[T any](r *Reader, p *Parameter, field string, convert func(string) (T, bool)) T {
	if r.Form.InQuery(p.Name) {
		return refuse[T](r, p, "send it in the body")
	}
	return Required(r, p, field, convert)
}

// RequiredOnce reads a parameter that must be there exactly once.
func RequiredOnce[T any](r *Reader, p *Parameter, field string, convert func(string) (T, bool)) T {
	if r.Form.Count(p.Name) > 1 {
		return refuse[T](r, p, "send it once")
	}
	return Required(r, p, field, convert)
}

// Optional reads a parameter that may be absent; it returns nil then. field is as in
// Required.
func Optional[T any](r *Reader, p *Parameter, field string, convert func(string) (T, bool)) *T {
	value, state := read(r, p, convert)
	r.readings = append(r.readings, reading{p, field, false, state})
	if state != stateGood {
		return nil
	}
	return new(value)
}

// Or returns the value of an optional parameter, or otherwise when it is absent.
func Or[T any](p *T, otherwise T) T {
	if p == nil {
		return otherwise
	}
	return *p
}

func read[T any](r *Reader, p *Parameter, convert func(string) (T, bool)) (T, state) {
	raw, present := r.Form.Get(p.Name)
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

// refuse notes that a parameter is invalid for a reason of its own.
func refuse[T any](r *Reader, p *Parameter, hint string) (zero T) {
	r.readings = append(r.readings, reading{&Parameter{Name: p.Name, Hint: hint}, "", true, stateInvalid})
	return zero
}

// Imply attributes a violation of a field to a parameter without reading a value.
func (r *Reader) Imply(p *Parameter, field string) {
	r.readings = append(r.readings, reading{p, field, false, stateGood})
}

// Faulty reports whether a parameter is missing or invalid.
func (r *Reader) Faulty() bool {
	for i := range r.readings {
		if r.readings[i].state >= stateMissing {
			return true
		}
	}
	return false
}

// Refuse marks the parameter that feeds a field as invalid. It does nothing when the
// parameter was not sent or is known to be at fault, and when no parameter feeds the
// field.
func (r *Reader) Refuse(field string) {
	for i := range r.readings {
		each := &r.readings[i]
		if each.state == stateGood && each.field == field && field != "" && !r.isFaulty(each.parameter.Name) {
			each.state = stateInvalid
			return
		}
	}
}

func (r *Reader) isFaulty(name string) bool {
	for i := range r.readings {
		if r.readings[i].parameter.Name == name && r.readings[i].state >= stateMissing {
			return true
		}
	}
	return false
}

// Failure names every fault in the order of the readings; nil when there is none. The
// stable reason is that of the first.
func (r *Reader) Failure() *failure.Failure {
	var reason string
	var info strings.Builder
	for i := range r.readings {
		each := &r.readings[i]
		if each.state < stateMissing {
			continue
		}
		f := each.parameter.Missing()
		if each.state == stateInvalid {
			f = each.parameter.Invalid()
		}
		if reason == "" {
			reason = f.Reason
		} else {
			info.WriteString("; ")
		}
		info.WriteString(f.Info)
	}
	if reason == "" {
		return nil
	}
	return &failure.Failure{Reason: reason, Info: info.String()}
}

// Reset forgets what was read, so that the Reader can be used for another request.
func (r *Reader) Reset() {
	clear(r.readings)
	r.readings = r.readings[:0]
}

// Reading is how a parameter was read.
type Reading struct {
	Parameter Parameter
	// Field is the path of the field that the parameter feeds.
	Field      string
	IsRequired bool
}

// Readings returns how the parameters were read, in that order.
func (r *Reader) Readings() []Reading {
	readings := make([]Reading, len(r.readings))
	for i, each := range r.readings {
		readings[i] = Reading{Parameter: *each.parameter, Field: each.field, IsRequired: each.isRequired}
	}
	return readings
}
