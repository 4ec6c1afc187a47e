package movefile

import (
	"fmt"
	"slices"
)

// Class is a kind of faults.
type Class string

// The classes.
const (
	// Unreadable: the line is no object of a known kind.
	Unreadable Class = "unreadable"
	// UnknownField: the kind does not have the field.
	UnknownField Class = "unknown-field"
	// Missing: a required field is absent.
	Missing Class = "missing"
	// WrongType: the value has another JSON type or form.
	WrongType Class = "wrong-type"
	// OutOfRange: the value is outside the contract.
	OutOfRange Class = "out-of-range"
	// TooLong: the text is longer than the contract allows, or than was allowed.
	TooLong Class = "too-long"
	// Blank: a name has no visible character.
	Blank Class = "blank"
	// Characters: XML cannot carry a character of the text.
	Characters Class = "characters"
	// Conflict: fields exclude each other.
	Conflict Class = "conflict"
	// Duplicate: an earlier record has the same identifier.
	Duplicate Class = "duplicate"
	// Dangling: what the record refers to is not in the files.
	Dangling Class = "dangling"
)

// Fault is what is wrong with a record.
type Fault struct {
	Class Class
	// Field is the field, such as vote.choices[2].description; empty if it is the whole record.
	Field string
	// Text says what is wrong and what to do about it.
	Text string
	// Allow names the allowance under which it is no fault; empty if there is none. IsAllowed says
	// that it was given.
	Allow     Allowance
	IsAllowed bool
	// First is where the earlier record of a Duplicate is.
	First Position
}

// IsBad reports whether one of some faults is not allowed.
func IsBad(faults []Fault) bool {
	return slices.ContainsFunc(faults, func(f Fault) bool { return !f.IsAllowed })
}

// String formats the fault for people.
func (f Fault) String() string {
	text := f.Text
	if f.Field != "" {
		text = f.Field + ": " + text
	}
	if f.Allow != "" {
		text += fmt.Sprintf(" (--allow %s)", f.Allow)
	}
	return text
}
