// Package rules checks messages by the rules of the contracts. It knows those options of
// protovalidate that the contracts use, and refuses with protovalidate's words. Rules of texts,
// identifiers and times come in addition.
package rules

import (
	"strconv"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/waybook/waybook/internal/text"
)

// Violation is an invalid field.
type Violation struct {
	// Field is the field's path in the message, such as "location.lat".
	Field string
	// Message says what the field must be.
	Message string
}

// Violations returns every invalid field of a message. A rule about several fields has no field of
// its own. Its text begins with the field to report, as in "password: needs an email address".
func Violations(message proto.Message) []Violation {
	found := of(message.ProtoReflect().Descriptor()).violations(message.ProtoReflect())
	for i, v := range found {
		if field, text, names := strings.Cut(v.Message, ": "); names && v.Field == "" {
			found[i] = Violation{field, text}
		}
	}
	return found
}

func (r *messageRules) violations(message protoreflect.Message) (found []Violation) {
	for _, rule := range r.conditions {
		if !rule.holds(message) {
			found = append(found, Violation{Message: rule.text})
		}
	}
	for _, oneof := range r.oneofs {
		if message.WhichOneof(oneof) == nil {
			found = append(found, Violation{string(oneof.Name()), "exactly one field is required in oneof"})
		}
	}
	for _, field := range r.fields {
		found = field.check(message, found)
	}
	return found
}

// check appends the violations of a field of a message.
func (f *fieldRules) check(message protoreflect.Message, found []Violation) []Violation {
	if !message.Has(f.FieldDescriptor) {
		if f.isRequired {
			return append(found, Violation{string(f.Name()), "value is required"})
		}
		if f.mayBeUnset {
			return found
		}
	}
	value := message.Get(f.FieldDescriptor)
	if !f.IsList() {
		return f.checkValue(value, -1, found)
	}
	for _, rule := range f.list {
		if !rule.holds(value) {
			found = append(found, Violation{string(f.Name()), rule.text})
		}
	}
	for item := range value.List().Len() {
		found = f.checkValue(value.List().Get(item), item, found)
	}
	return found
}

// checkValue appends the violations of the value of a field. item is its index in a list, or -1.
func (f *fieldRules) checkValue(value protoreflect.Value, item int, found []Violation) []Violation {
	for _, rule := range f.each {
		if !rule.holds(value) {
			found = append(found, Violation{f.path(item), rule.text})
		}
	}
	if f.isMessage {
		for _, inner := range of(f.Message()).violations(value.Message()) {
			inner.Field = strings.TrimSuffix(f.path(item)+"."+inner.Field, ".")
			found = append(found, inner)
		}
	}
	return found
}

func (f *fieldRules) path(item int) string {
	if item < 0 {
		return string(f.Name())
	}
	return string(f.Name()) + "[" + strconv.Itoa(item) + "]"
}

// maxID is the highest identifier (rule 14.1).
const maxID = 1<<53 - 1

// Every string of a request follows the rule of texts, so it needs no option, except that a name
// is not blank (option waybook.type.v1.name). An empty name violates only the rule of its length.
// An identifier has the option waybook.type.v1.id, and may be low if it has a rule of its own for
// that. A timestamp is a text elsewhere, so it has to be one that RFC 3339 has.
var (
	textRule = rule[value]{
		func(v value) bool { return text.IsValid(v.String()) },
		"has a character that XML 1.0 cannot carry, such as a control character",
	}
	nameRule = rule[value]{
		func(v value) bool { return v.String() == "" || !text.IsBlank(v.String()) },
		"must have a visible character",
	}
	timeRule = rule[value]{isTime, "must be a time from the year 1 to 9999"}
)

func isTime(v value) bool {
	at, ok := v.Message().Interface().(*timestamppb.Timestamp)
	return !ok || at.IsValid()
}

func idRule(lowest int64) rule[value] {
	return rule[value]{func(v value) bool { return lowest <= v.Int() && v.Int() <= maxID },
		"must be from 1 to 9007199254740991"}
}
