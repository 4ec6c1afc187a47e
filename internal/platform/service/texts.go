package service

import (
	"strconv"
	"sync"

	"buf.build/gen/go/bufbuild/protovalidate/protocolbuffers/go/buf/validate"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/waybook/waybook/internal/platform/apierror"
	"github.com/waybook/waybook/internal/text"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

const (
	notText = "has a character that XML 1.0 cannot carry, such as a control character"
	isBlank = "must have a visible character"
	notTime = "must be a time from the year 1 to 9999"
)

// textViolations returns the fields of a message that break the rules of texts. Every string of
// a request follows these rules, so they need no option, except that a name is not blank (option
// waybook.type.v1.name). They are not rules of protovalidate, because its expressions take many
// times as long. A timestamp is a text elsewhere, so it has to be one that RFC 3339 has.
//
// Items that protovalidate ignores are skipped. Their handler validates each by itself.
func textViolations(message protoreflect.Message) (violations []apierror.Violation) {
	for _, field := range textFieldsOf(message.Descriptor()) {
		if !message.Has(field.FieldDescriptor) {
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

// textField is a field that is a text or a message, or a list of them whose items are checked.
type textField struct {
	protoreflect.FieldDescriptor
	isList, isMessage, isName bool
}

// textFields keeps the result of textFieldsOf by message.
var textFields sync.Map

func textFieldsOf(message protoreflect.MessageDescriptor) []textField {
	if known, ok := textFields.Load(message); ok {
		return known.([]textField)
	}
	var found []textField
	for i := range message.Fields().Len() {
		field := message.Fields().Get(i)
		isText, isMessage := field.Kind() == protoreflect.StringKind, field.Kind() == protoreflect.MessageKind
		if isText || isMessage && !(field.IsList() && ignoresItems(field)) {
			isName, _ := proto.GetExtension(field.Options(), typev1.E_Name).(bool)
			found = append(found, textField{field, field.IsList(), isMessage, isName})
		}
	}
	textFields.Store(message, found)
	return found
}

// violations checks a text or a message. item is its index in a list, or -1. An empty name
// violates only the rule of its length.
func (f textField) violations(value protoreflect.Value, item int) (violations []apierror.Violation) {
	if f.isMessage {
		if at, isTime := value.Message().Interface().(*timestamppb.Timestamp); isTime && !at.IsValid() {
			violations = []apierror.Violation{{Message: notTime}}
		} else {
			violations = textViolations(value.Message())
		}
	} else if s := value.String(); !text.IsValid(s) {
		violations = []apierror.Violation{{Message: notText}}
	} else if s != "" && text.IsBlank(s) && f.isName {
		violations = []apierror.Violation{{Message: isBlank}}
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
