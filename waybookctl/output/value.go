package output

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// Object is a value with ordered named fields.
type Object []Field

// Field is one field of an object. Its value is an Object, a List, or a scalar.
type Field struct {
	Name  string
	Value any
}

// List is a value with several values.
type List []any

// FromProto converts a message to an Object with the contract's names. It has every field in the
// order of the field numbers, set or not, except unset messages. 64-bit integers stay numbers,
// since Waybook's fit a double exactly. Enums are their names in the contract; times are RFC 3339
// in UTC.
func FromProto(message proto.Message) Object {
	return fromMessage(message.ProtoReflect())
}

func fromMessage(message protoreflect.Message) Object {
	fields := message.Descriptor().Fields()
	object := make(Object, 0, fields.Len())
	for i := range fields.Len() {
		field := fields.Get(i)
		if field.HasPresence() && !message.Has(field) {
			continue
		}
		object = append(object, Field{string(field.Name()), fromField(field, message.Get(field))})
	}
	return object
}

func fromField(field protoreflect.FieldDescriptor, value protoreflect.Value) any {
	if !field.IsList() {
		return fromScalar(field, value)
	}
	list := make(List, value.List().Len())
	for i := range list {
		list[i] = fromScalar(field, value.List().Get(i))
	}
	return list
}

func fromScalar(field protoreflect.FieldDescriptor, value protoreflect.Value) any {
	switch field.Kind() {
	case protoreflect.MessageKind:
		if moment, ok := value.Message().Interface().(*timestamppb.Timestamp); ok {
			return moment.AsTime().Format(time.RFC3339Nano)
		}
		return fromMessage(value.Message())
	case protoreflect.EnumKind:
		if known := field.Enum().Values().ByNumber(value.Enum()); known != nil {
			return string(known.Name())
		}
		return int32(value.Enum()) // from a newer contract
	}
	return value.Interface()
}

// Time formats a time for people: RFC 3339 in UTC, to the second.
func Time(moment *timestamppb.Timestamp) string { return moment.AsTime().Format(time.RFC3339) }

// MarshalJSON writes the fields in their order.
func (o Object) MarshalJSON() ([]byte, error) {
	var out bytes.Buffer
	out.WriteByte('{')
	for i, field := range o {
		if i > 0 {
			out.WriteByte(',')
		}
		name, err := marshalJSON(field.Name, "", "")
		if err != nil {
			return nil, err
		}
		value, err := marshalJSON(field.Value, "", "")
		if err != nil {
			return nil, err
		}
		out.Write(name)
		out.WriteByte(':')
		out.Write(value)
	}
	out.WriteByte('}')
	return out.Bytes(), nil
}

// marshalJSON escapes what a terminal obeys, which encoding/json leaves as it is. It does not
// escape <, > and &, because its output is never part of HTML. With an indent, all lines but the
// first begin with prefix; without one, there is one line.
func marshalJSON(value any, prefix, indent string) ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent(prefix, indent)
	err := encoder.Encode(value)
	encoded := bytes.TrimSuffix(out.Bytes(), []byte("\n"))
	isRaw := func(r rune) bool { return r != '\n' && isHidden(r) }
	if err != nil || !bytes.ContainsFunc(encoded, isRaw) {
		return encoded, err
	}
	var escaped []byte
	for _, r := range string(encoded) {
		switch {
		case !isRaw(r):
			escaped = utf8.AppendRune(escaped, r)
		case r < 0x10000:
			escaped = fmt.Appendf(escaped, `\u%04x`, r)
		default:
			high, low := utf16.EncodeRune(r)
			escaped = fmt.Appendf(escaped, `\u%04x\u%04x`, high, low)
		}
	}
	return escaped, nil
}
