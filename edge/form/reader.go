package form

import (
	"strings"

	"github.com/waybook/waybook/edge/failure"
)

// Reader reads the parameters of a form into the fields of a request. It records each parameter
// that it reads and its fault, if any. Failure names the faults in the order of reading. A
// Reader is not safe for concurrent use.
type Reader struct {
	Form     *Form
	readings []reading
	// replaced are values in place of those of the form, by the name of the parameter.
	replaced map[string]string
}

// reading records one parameter and the request field that it feeds.
type reading struct {
	parameter *Parameter
	field     string
	// isRequired says that an absent parameter is a fault.
	isRequired bool
	state      state
}

// failure returns the failure of a faulty reading.
func (r *reading) failure() *failure.Failure {
	switch r.state {
	case stateInvalid:
		return r.parameter.Invalid()
	case stateMalformed:
		return r.parameter.malformed()
	case stateUnreadable:
		return r.parameter.Unreadable()
	}
	return r.parameter.Missing()
}

type state int

const (
	stateGood    state = iota
	stateAbsent        // optional and not sent
	stateMissing       // required and not sent
	stateInvalid
	stateMalformed  // invalid, because it does not have the parameter's syntax
	stateUnreadable // not valid text
)

// Required reads a parameter that must be present. field is the path of the request field that
// it feeds, in the form of google.rpc.BadRequest. It is empty if the parameter feeds no field.
// After a fault Required returns the zero value, and the caller must not send the request.
func Required[T any](r *Reader, p *Parameter, field string, convert func(string) (T, bool)) T {
	value, state := read(r, p, convert)
	if state == stateAbsent || (p.EmptyIsAbsent || p.OneOf != "") && !r.Has(p) {
		state = stateMissing
	}
	r.readings = append(r.readings, reading{p, field, true, state})
	return value
}

// RequiredInBody reads a parameter that must be in the body, because URLs end up in logs and
// histories. It rejects the parameter in the query even if the body has it too.
func RequiredInBody[T any](r *Reader, p *Parameter, field string, convert func(string) (T, bool)) (value T) {
	if r.isExposed(p) {
		return value
	}
	return Required(r, p, field, convert)
}

// OptionalInBody is Optional for a parameter that must be in the body, as with RequiredInBody.
func OptionalInBody[T any](r *Reader, p *Parameter, field string, convert func(string) (T, bool)) *T {
	if r.isExposed(p) {
		return nil
	}
	return Optional(r, p, field, convert)
}

// isExposed rejects a parameter that is in the query.
func (r *Reader) isExposed(p *Parameter) bool {
	isInQuery := r.Form.InQuery(p.Name)
	if isInQuery {
		r.Reject(p, "send it in the body")
	}
	return isInQuery
}

// Optional reads a parameter that may be absent. It returns nil if it is absent or invalid. An
// empty parameter counts as absent (rule 2.7). field is as in Required.
func Optional[T any](r *Reader, p *Parameter, field string, convert func(string) (T, bool)) *T {
	if value, found := r.get(p); found == Readable && value == "" {
		r.readings = append(r.readings, reading{p, field, false, stateAbsent})
		return nil
	}
	return Clearable(r, p, field, convert)
}

// Clearable is Optional for a parameter whose empty value has a meaning.
func Clearable[T any](r *Reader, p *Parameter, field string, convert func(string) (T, bool)) *T {
	value, state := read(r, p, convert)
	r.readings = append(r.readings, reading{p, field, false, state})
	if state != stateGood {
		return nil
	}
	return new(value)
}

// Or returns the value of an optional parameter, or otherwise if the parameter is absent.
func Or[T any](p *T, otherwise T) T {
	if p == nil {
		return otherwise
	}
	return *p
}

// Refusal is a value that the syntax of its parameter refuses.
type Refusal struct {
	// Name is that of the parameter. Field is the path of the request field that it feeds.
	Name, Field, Value string
}

// Refusals returns the values that were refused, and that feed a field.
func (r *Reader) Refusals() (refusals []Refusal) {
	for i := range r.readings {
		each := &r.readings[i]
		if each.field == "" || each.state != stateInvalid && each.state != stateMalformed {
			continue
		}
		if value, found := r.get(each.parameter); found == Readable {
			refusals = append(refusals, Refusal{each.parameter.Name, each.field, value})
		}
	}
	return refusals
}

// Replace forgets all readings. The next ones find values in place of those of the form, by the
// names of their parameters.
func (r *Reader) Replace(values map[string]string) {
	r.Reset()
	r.replaced = values
}

// get returns the value of a parameter in the form.
func (r *Reader) get(p *Parameter) (value string, found Found) {
	value, found = r.Form.Get(p.Name)
	return p.Syntax.trim(value), found
}

func read[T any](r *Reader, p *Parameter, convert func(string) (T, bool)) (T, state) {
	raw, found := r.get(p)
	if value, isReplaced := r.replaced[p.Name]; isReplaced {
		raw, found = value, Readable
	}
	var zero T
	switch found {
	case Absent:
		return zero, stateAbsent
	case Unreadable:
		return zero, stateUnreadable
	}
	value, ok := convert(raw)
	switch {
	case ok && (p.Range == nil || p.Range.Includes(raw)):
		return value, stateGood
	case !p.Syntax.fits(raw):
		return value, stateMalformed
	}
	return value, stateInvalid
}

// Reject records that a parameter is invalid, with a hint of its own.
func (r *Reader) Reject(p *Parameter, hint string) {
	r.readings = append(r.readings, reading{&Parameter{Name: p.Name, Hint: hint}, "", true, stateInvalid})
}

// Has reports whether a parameter was sent with a value that is not empty, readable or not.
func (r *Reader) Has(p *Parameter) bool {
	value, found := r.get(p)
	return found == Unreadable || value != ""
}

// Imply makes a parameter feed one more field, without reading a value. A violation of the field
// then names the parameter.
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

// Refuse marks the parameter that feeds a field as invalid. It does nothing if no parameter
// feeds the field, if the parameter is absent, or if it already has a fault.
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

// Failure returns a failure that names every fault, in the order of reading; nil if there is
// none. Its stable reason is that of the first fault. If a parameter is not valid text, it names
// only such parameters (rule 1.17).
func (r *Reader) Failure() *failure.Failure {
	least := stateMissing
	for i := range r.readings {
		if r.readings[i].state == stateUnreadable {
			least = stateUnreadable
		}
	}
	var reason string
	var info strings.Builder
	for i := range r.readings {
		each := &r.readings[i]
		if each.state < least {
			continue
		}
		f := each.failure()
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

// Reset forgets all readings, so that the Reader can serve another request.
func (r *Reader) Reset() {
	clear(r.readings)
	r.readings, r.replaced = r.readings[:0], nil
}

// Reading describes how the Reader read one parameter.
type Reading struct {
	Parameter Parameter
	// Field is the path of the request field that the parameter feeds.
	Field      string
	IsRequired bool
}

// Readings returns the readings in order.
func (r *Reader) Readings() []Reading {
	readings := make([]Reading, len(r.readings))
	for i, each := range r.readings {
		readings[i] = Reading{Parameter: *each.parameter, Field: each.field, IsRequired: each.isRequired}
	}
	return readings
}
