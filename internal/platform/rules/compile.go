package rules

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"buf.build/gen/go/bufbuild/protovalidate/protocolbuffers/go/buf/validate"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// messageRules are the rules of a message.
type messageRules struct {
	conditions []rule[protoreflect.Message]
	// oneofs are those that need a field.
	oneofs []protoreflect.OneofDescriptor
	fields []*fieldRules
}

// fieldRules are the rules of a field.
type fieldRules struct {
	protoreflect.FieldDescriptor
	isRequired bool
	// mayBeUnset says that the other rules are for a value that is set.
	mayBeUnset bool
	// list are the rules of a list, and each those of its items, or of the value of a field that
	// is no list.
	list, each []rule[value]
	// isMessage says that the value, or each item, is a message with rules of its own.
	isMessage bool
}

// rule is what holds for a valid value, with protovalidate's words.
type rule[T any] struct {
	holds func(T) bool
	text  string
}

// compiled keeps the result of of.
var compiled sync.Map

// of returns the rules of a message. It panics if it does not know one of them.
func of(message protoreflect.MessageDescriptor) *messageRules {
	if known, ok := compiled.Load(message); ok {
		return known.(*messageRules)
	}
	rules, err := compile(message)
	if err != nil {
		panic(err)
	}
	compiled.Store(message, rules)
	return rules
}

// Load compiles the rules of all contracts in the program. It panics if it does not know one of
// them.
func Load() {
	protoregistry.GlobalFiles.RangeFiles(func(file protoreflect.FileDescriptor) bool {
		if strings.HasPrefix(string(file.Package()), "waybook.") {
			load(file.Messages())
		}
		return true
	})
}

func load(messages protoreflect.MessageDescriptors) {
	for i := range messages.Len() {
		of(messages.Get(i))
		load(messages.Get(i).Messages())
	}
}

func compile(message protoreflect.MessageDescriptor) (*messageRules, error) {
	r := &messageRules{}
	options, _ := proto.GetExtension(message.Options(), validate.E_Message).(*validate.MessageRules)
	for _, option := range given(options.ProtoReflect()) {
		if option.Name() != "cel" {
			return nil, fmt.Errorf("%s: unknown rule %s", message.FullName(), option.FullName())
		}
	}
	for _, cel := range options.GetCel() {
		holds, err := condition(message, cel.GetExpression())
		if err != nil {
			return nil, fmt.Errorf("%s: rule %s: %w", message.FullName(), cel.GetId(), err)
		}
		r.conditions = append(r.conditions, rule[protoreflect.Message]{holds, cel.GetMessage()})
	}
	for i := range message.Oneofs().Len() {
		oneof := message.Oneofs().Get(i)
		if options, _ := proto.GetExtension(oneof.Options(),
			validate.E_Oneof).(*validate.OneofRules); options.GetRequired() {
			r.oneofs = append(r.oneofs, oneof)
		}
	}
	for i := range message.Fields().Len() {
		f, err := compileField(message.Fields().Get(i))
		if err != nil {
			return nil, err
		}
		if f.isRequired || f.isMessage || len(f.list)+len(f.each) > 0 {
			r.fields = append(r.fields, f)
		}
	}
	return r, nil
}

func compileField(field protoreflect.FieldDescriptor) (*fieldRules, error) {
	f := &fieldRules{FieldDescriptor: field, mayBeUnset: field.HasPresence(), isMessage: field.Message() != nil}
	options, _ := proto.GetExtension(field.Options(), validate.E_Field).(*validate.FieldRules)
	if err := f.take(options, false); err != nil {
		return nil, fmt.Errorf("%s: %w", field.FullName(), err)
	}
	switch {
	case proto.HasExtension(field.Options(), typev1.E_Id):
		lowest := int64(1)
		if options.GetInt64().HasGte() {
			lowest = math.MinInt64 // the field has a rule of its own
		}
		f.each = append(f.each, idRule(lowest))
	case field.Kind() == protoreflect.StringKind:
		f.each = append(f.each, textRule)
		if isName, _ := proto.GetExtension(field.Options(), typev1.E_Name).(bool); isName {
			f.each = append(f.each, nameRule)
		}
	case f.isMessage && field.Message().FullName() == "google.protobuf.Timestamp":
		f.each = append(f.each, timeRule)
	}
	return f, nil
}

// take takes the options of a field, or those of the items of a list.
func (f *fieldRules) take(options *validate.FieldRules, ofItems bool) (err error) {
	for _, option := range given(options.ProtoReflect()) {
		switch of := options.ProtoReflect().Get(option); {
		case option.Name() == "required" && !ofItems:
			f.isRequired = true
		case option.Name() == "ignore" && !ofItems && options.GetIgnore() == validate.Ignore_IGNORE_IF_ZERO_VALUE:
			f.mayBeUnset = true
		case option.Name() == "ignore" && ofItems && options.GetIgnore() == validate.Ignore_IGNORE_ALWAYS:
			f.isMessage = false // the handler validates each item by itself
		case option.Name() == "repeated":
			if f.list, err = valueRules(f.FieldDescriptor, of.Message()); err == nil {
				err = f.take(options.GetRepeated().GetItems(), true)
			}
		case option.ContainingOneof() != nil:
			f.each, err = valueRules(f.FieldDescriptor, of.Message())
		default:
			err = fmt.Errorf("unknown rule %s", option.FullName())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// given returns the options that are set, in the order of their numbers.
func given(options protoreflect.Message) (all []protoreflect.FieldDescriptor) {
	options.Range(func(option protoreflect.FieldDescriptor, _ protoreflect.Value) bool {
		all = append(all, option)
		return true
	})
	slices.SortFunc(all, func(a, b protoreflect.FieldDescriptor) int { return cmp.Compare(a.Number(), b.Number()) })
	return all
}
