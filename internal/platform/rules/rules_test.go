package rules

import (
	"strings"
	"testing"

	"buf.build/gen/go/bufbuild/protovalidate/protocolbuffers/go/buf/validate"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
)

// A rule of a contract that this package does not check is an error at the start of a program, not a gap. That the known
// ones are right shows e2e/contract, beside protovalidate.
func TestAnUnknownRuleIsAnError(t *testing.T) {
	field := func(rules *validate.FieldRules) *descriptorpb.DescriptorProto {
		options := &descriptorpb.FieldOptions{}
		proto.SetExtension(options, validate.E_Field, rules)
		return &descriptorpb.DescriptorProto{Field: []*descriptorpb.FieldDescriptorProto{{
			Name: new("text"), Number: new(int32(1)), Type: descriptorpb.FieldDescriptorProto_TYPE_STRING.Enum(),
			Label: descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL.Enum(), Options: options,
		}}}
	}
	text := func(rules *validate.StringRules) *descriptorpb.DescriptorProto {
		return field(&validate.FieldRules{Type: &validate.FieldRules_String_{String_: rules}})
	}
	whole := func(rules *validate.MessageRules) *descriptorpb.DescriptorProto {
		message := text(&validate.StringRules{MinLen: new(uint64(1))})
		message.Options = &descriptorpb.MessageOptions{}
		proto.SetExtension(message.Options, validate.E_Message, rules)
		return message
	}
	cel := func(expression string) *descriptorpb.DescriptorProto {
		return whole(&validate.MessageRules{Cel: []*validate.Rule{{Id: new("a.rule"), Message: new("no"), Expression: &expression}}})
	}
	for name, c := range map[string]struct {
		message *descriptorpb.DescriptorProto
		want    string
	}{
		"known":           {cel("has(this.text) || !(1 < 2)"), ""},
		"of a text":       {text(&validate.StringRules{MinLen: new(uint64(1)), Prefix: new("a")}), "StringRules.prefix"},
		"of another type": {field(&validate.FieldRules{Type: &validate.FieldRules_Any{Any: &validate.AnyRules{In: []string{"a"}}}}), "AnyRules.in"},
		"of a field":      {field(&validate.FieldRules{Cel: []*validate.Rule{{Expression: new("true")}}}), "FieldRules.cel"},
		"ignored":         {field(&validate.FieldRules{Ignore: validate.Ignore_IGNORE_ALWAYS.Enum()}), "FieldRules.ignore"},
		"of fields":       {whole(&validate.MessageRules{Oneof: []*validate.MessageOneofRule{{Fields: []string{"text"}}}}), "MessageRules.oneof"},
		"a function":      {cel("this.text.startsWith('a')"), "a.rule"},
		"a text":          {cel("this.text == 1"), "a.rule"},
		"another field":   {cel("has(this.other)"), "a.rule"},
		"an operation":    {cel("1 + 1 == 2"), "a.rule"},
		"no expression":   {cel("1 ? 2 : 3"), "a.rule"},
	} {
		c.message.Name = new("Message")
		file, err := protodesc.NewFile(&descriptorpb.FileDescriptorProto{
			Name: new("file.proto"), Syntax: new("proto3"), MessageType: []*descriptorpb.DescriptorProto{c.message},
		}, protoregistry.GlobalFiles)
		if err != nil {
			t.Fatal(err)
		}
		if _, err = compile(file.Messages().Get(0)); (err != nil) != (c.want != "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}
