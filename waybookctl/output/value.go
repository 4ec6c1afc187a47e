package output

import (
	"bytes"
	"encoding/json"
	"time"

	"go.yaml.in/yaml/v3"
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

// MarshalYAML writes the fields in their order.
func (o Object) MarshalYAML() (any, error) {
	mapping := &yaml.Node{Kind: yaml.MappingNode}
	for _, field := range o {
		var name, value yaml.Node
		if err := name.Encode(field.Name); err != nil {
			return nil, err
		}
		if err := value.Encode(field.Value); err != nil {
			return nil, err
		}
		mapping.Content = append(mapping.Content, &name, &value)
	}
	return mapping, nil
}

// marshalJSON does not escape <, > and &, because its output is never part of HTML. With an indent, all lines but
// the first begin with prefix; without one, there is one line.
func marshalJSON(value any, prefix, indent string) ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent(prefix, indent)
	err := encoder.Encode(value)
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), err
}

// FromJSON converts a value to Objects and Lists by its json tags, keeping the order of the fields.
func FromJSON(value any) (any, error) {
	encoded, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	decoder := json.NewDecoder(bytes.NewReader(encoded))
	decoder.UseNumber()
	return plain(decoder)
}

func plain(decoder *json.Decoder) (any, error) {
	token, err := decoder.Token()
	if err != nil {
		return nil, err
	}
	switch token {
	case json.Delim('{'):
		object := Object{}
		for decoder.More() {
			name, err := decoder.Token()
			if err != nil {
				return nil, err
			}
			value, err := plain(decoder)
			if err != nil {
				return nil, err
			}
			object = append(object, Field{name.(string), value})
		}
		_, err = decoder.Token()
		return object, err
	case json.Delim('['):
		list := List{}
		for decoder.More() {
			value, err := plain(decoder)
			if err != nil {
				return nil, err
			}
			list = append(list, value)
		}
		_, err = decoder.Token()
		return list, err
	}
	if number, ok := token.(json.Number); ok {
		if whole, err := number.Int64(); err == nil {
			return whole, nil
		}
		return number.Float64()
	}
	return token, nil
}
