// Package rules checks messages by the rules of the contracts: those of protovalidate, and those that it does not have.
package rules

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"buf.build/gen/go/bufbuild/protovalidate/protocolbuffers/go/buf/validate"
	"buf.build/go/protovalidate"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/waybook/waybook/internal/text"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// Violation is an invalid field.
type Violation struct {
	// Field is the field's path in the message, such as "location.lat".
	Field string
	// Message says what the field must be.
	Message string
}

// Violations returns every invalid field of a message, by protovalidate's rules and by those
// of ownViolations. A rule about several fields has no field of its own. Its text begins with the field to
// report, as in "password: needs an email address".
func Violations(validator protovalidate.Validator, message proto.Message) ([]Violation, error) {
	own := ownViolations(message.ProtoReflect())
	err := validator.Validate(message)
	if err == nil {
		return own, nil
	}
	var invalid *protovalidate.ValidationError
	if !errors.As(err, &invalid) {
		return nil, fmt.Errorf("validate: %w", err)
	}
	violations := make([]Violation, len(invalid.Violations))
	for n, v := range invalid.Violations {
		violations[n] = Violation{
			Field:   protovalidate.FieldPathString(v.Proto.GetField()),
			Message: v.Proto.GetMessage(),
		}
		if field, text, names := strings.Cut(v.Proto.GetMessage(), ": "); names && violations[n].Field == "" {
			violations[n] = Violation{Field: field, Message: text}
		}
	}
	return append(violations, own...), nil
}

const (
	notText = "has a character that XML 1.0 cannot carry, such as a control character"
	isBlank = "must have a visible character"
	notTime = "must be a time from the year 1 to 9999"
	noID    = "must be from 1 to 9007199254740991"
)

// maxID is the highest identifier (rule 14.1).
const maxID = 1<<53 - 1

// ownViolations returns the fields of a message that break the rules of texts and of identifiers. Every string of
// a request follows the rules of texts, so they need no option, except that a name is not blank (option
// waybook.type.v1.name). An identifier has the option waybook.type.v1.id. They are not rules of protovalidate, because
// its expressions take many times as long. A timestamp is a text elsewhere, so it has to be one that RFC 3339 has.
//
// Items that protovalidate ignores are skipped. Their handler validates each by itself.
func ownViolations(message protoreflect.Message) (violations []Violation) {
	for _, field := range ruledFieldsOf(message.Descriptor()) {
		if !message.Has(field.FieldDescriptor) && (!field.isID || field.HasPresence()) {
			continue
		}
		value := message.Get(field.FieldDescriptor)
		if !field.isList {
			violations = append(violations, field.violations(value, -1)...)
			continue
		}
		for item := range value.List().Len() {
			violations = append(violations, field.violations(value.List().Get(item), item)...)
		}
	}
	return violations
}

// ruledField is a field that is a text, an identifier or a message, or a list of them whose items are checked.
type ruledField struct {
	protoreflect.FieldDescriptor
	isList, isMessage, isName, isID bool
	// mayBeLow says that the field has a rule of its own for low identifiers.
	mayBeLow bool
}

// ruledFields keeps the result of ruledFieldsOf by message.
var ruledFields sync.Map

func ruledFieldsOf(message protoreflect.MessageDescriptor) []ruledField {
	if known, ok := ruledFields.Load(message); ok {
		return known.([]ruledField)
	}
	var found []ruledField
	for i := range message.Fields().Len() {
		field := message.Fields().Get(i)
		isText, isMessage := field.Kind() == protoreflect.StringKind, field.Kind() == protoreflect.MessageKind
		isID := proto.HasExtension(field.Options(), typev1.E_Id)
		if isText || isID || isMessage && !(field.IsList() && ignoresItems(field)) {
			isName, _ := proto.GetExtension(field.Options(), typev1.E_Name).(bool)
			found = append(found, ruledField{field, field.IsList(), isMessage, isName, isID, hasOwnLowest(field)})
		}
	}
	ruledFields.Store(message, found)
	return found
}

// hasOwnLowest reports whether a field has a rule of protovalidate for its lowest value.
func hasOwnLowest(field protoreflect.FieldDescriptor) bool {
	rules, _ := proto.GetExtension(field.Options(), validate.E_Field).(*validate.FieldRules)
	return rules.GetInt64().HasGte()
}

// violations checks a text, an identifier or a message. item is its index in a list, or -1. An empty name
// violates only the rule of its length.
func (f ruledField) violations(value protoreflect.Value, item int) (violations []Violation) {
	if f.isMessage {
		if at, isTime := value.Message().Interface().(*timestamppb.Timestamp); isTime && !at.IsValid() {
			violations = []Violation{{Message: notTime}}
		} else {
			violations = ownViolations(value.Message())
		}
	} else if f.isID {
		if value.Int() < 1 && !f.mayBeLow || value.Int() > maxID {
			violations = []Violation{{Message: noID}}
		}
	} else if s := value.String(); !text.IsValid(s) {
		violations = []Violation{{Message: notText}}
	} else if s != "" && text.IsBlank(s) && f.isName {
		violations = []Violation{{Message: isBlank}}
	}
	for i, inner := range violations {
		path := string(f.Name())
		if item >= 0 {
			path += "[" + strconv.Itoa(item) + "]"
		}
		if inner.Field != "" {
			path += "." + inner.Field
		}
		violations[i].Field = path
	}
	return violations
}

// ignoresItems reports whether protovalidate ignores the items of a list.
func ignoresItems(field protoreflect.FieldDescriptor) bool {
	rules, _ := proto.GetExtension(field.Options(), validate.E_Field).(*validate.FieldRules)
	return rules.GetRepeated().GetItems().GetIgnore() == validate.Ignore_IGNORE_ALWAYS
}
