package service

import (
	"strconv"

	"buf.build/gen/go/bufbuild/protovalidate/protocolbuffers/go/buf/validate"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/waybook/waybook/internal/platform/apierror"
	"github.com/waybook/waybook/internal/text"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

const (
	notText = "has a character that XML 1.0 cannot carry, such as a control character"
	isBlank = "must have a visible character"
)

// textViolations returns the fields of a message that break the rules of texts. Every string of
// a request follows these rules, so they need no option, except that a name is not blank (option
// waybook.type.v1.name). They are not rules of protovalidate, because its expressions take many
// times as long.
//
// Items that protovalidate ignores are skipped. Their handler validates each by itself.
func textViolations(message protoreflect.Message) (violations []apierror.Violation) {
	fields := message.Descriptor().Fields()
	for i := range fields.Len() {
		field := fields.Get(i)
		isText := field.Kind() == protoreflect.StringKind
		if !isText && field.Kind() != protoreflect.MessageKind || !message.Has(field) {
			continue
		}
		value := message.Get(field)
		switch {
		case !field.IsList():
			violations = append(violations, fieldViolations(field, value, -1)...)
		case isText || !ignoresItems(field):
			for item := range value.List().Len() {
				violations = append(violations, fieldViolations(field, value.List().Get(item), item)...)
			}
		}
	}
	return violations
}

// fieldViolations checks a text or a message. item is its index in a list, or -1. An empty name
// violates only the rule of its length.
func fieldViolations(field protoreflect.FieldDescriptor, value protoreflect.Value, item int) (violations []apierror.Violation) {
	if field.Kind() == protoreflect.MessageKind {
		violations = textViolations(value.Message())
	} else if s := value.String(); !text.IsValid(s) {
		violations = []apierror.Violation{{Message: notText}}
	} else if s != "" && text.IsBlank(s) && isName(field) {
		violations = []apierror.Violation{{Message: isBlank}}
	}
	for i, inner := range violations {
		path := string(field.Name())
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

func isName(field protoreflect.FieldDescriptor) bool {
	isName, _ := proto.GetExtension(field.Options(), typev1.E_Name).(bool)
	return isName
}

// ignoresItems reports whether protovalidate ignores the items of a list.
func ignoresItems(field protoreflect.FieldDescriptor) bool {
	rules, _ := proto.GetExtension(field.Options(), validate.E_Field).(*validate.FieldRules)
	return rules.GetRepeated().GetItems().GetIgnore() == validate.Ignore_IGNORE_ALWAYS
}
