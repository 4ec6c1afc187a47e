package operation

import (
	"math"
	"slices"
	"strings"

	"buf.build/gen/go/bufbuild/protovalidate/protocolbuffers/go/buf/validate"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/waybook/waybook/edge/form"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// maxID is the highest identifier (rule 14.1).
const maxID = 1<<53 - 1

// Description describes an operation to clients.
type Description struct {
	// Func is the value of the parameter func.
	Func    string
	Variant Variant
	Effect  Effect
	Login   Login
	// IsAddition says that the legacy contract does not have the operation.
	IsAddition bool
	// Parameters are the operation's own parameters, in the order in which a failure names them.
	// They leave out the parameters that all operations share.
	Parameters []Parameter
}

// Parameter describes a parameter to clients.
type Parameter struct {
	Name, Hint string
	IsRequired bool
	Type       Type
	// Min and Max are the lowest and the highest valid number; nil if the contract names none,
	// and for a Type that is no number.
	Min, Max *float64
	// MinLength and MaxLength are the lengths of a text in characters; 0 means any. A limit in
	// bytes counts as one in characters, which no valid text exceeds.
	MinLength, MaxLength int
	// IsLong says that the text may be prose of several lines.
	IsLong bool
	// Values are the valid values of an Enum, or those of a Boolean, in their order.
	Values []Value
	// Fixed is the only valid value, or "" if there are others.
	Fixed string
}

// Type says which values a parameter takes.
type Type int

// The types of parameters.
const (
	Text    Type = iota
	Secret       // a text that no one should read over the user's shoulder
	Integer      // digits
	ID           // digits: the identifier of a user or of content
	Decimal      // a plain decimal
	Boolean      // true or false
	Enum         // one of a list
)

// Value is a valid value of a parameter, with its meaning in the words of the legacy contract.
type Value struct{ Value, Label string }

// Describe describes every row of the table of a Config. It calls no service.
func Describe(c *Config) []Description {
	legacy := legacyOperations(c)
	table := append(legacy, additions(c)...)
	described := make([]Description, len(table))
	for i := range table {
		described[i] = table[i].describe()
		described[i].IsAddition = i >= len(legacy)
	}
	return described
}

// describe returns the description of the operation. It lets the operation read an empty form,
// and takes types and ranges from the rules of the fields that the parameters feed. So the
// description always matches the code.
func (o *Operation) describe() Description {
	d := Description{Func: o.Func, Variant: o.Variant, Effect: o.Effect, Login: o.Login}
	if flag := o.Variant.Flag(); flag != nil {
		d.Parameters = append(d.Parameters, Parameter{
			Name: flag.Name, Hint: flag.Hint, IsRequired: true, Type: Boolean, Values: flags(), Fixed: "true",
		})
	}
	if o.build == nil {
		return d
	}
	in := &Input{Reader: form.Reader{Form: &form.Form{}}, Caller: nobody{}}
	request := o.build(in)
	for _, each := range in.Readings() {
		isTwice := func(p Parameter) bool { return p.Name == each.Parameter.Name }
		if !slices.ContainsFunc(d.Parameters, isTwice) {
			d.Parameters = append(d.Parameters, newParameter(each, request))
		}
	}
	return d
}

// newParameter describes a parameter that feeds a field of a request.
func newParameter(read form.Reading, request proto.Message) Parameter {
	p := Parameter{Name: read.Parameter.Name, Hint: read.Parameter.Hint, IsRequired: read.IsRequired}
	if read.Field != "" {
		p.follow(request.ProtoReflect().Descriptor(), read.Field)
	}
	if limits := read.Parameter.Range; limits != nil {
		p.Min, p.Max = new(float64(limits.Min)), new(float64(limits.Max))
	}
	return p
}

// flags returns the values of a Boolean.
func flags() []Value { return []Value{{Value: "true"}, {Value: "false"}} }

// valuesOf returns the values of an enumeration as forms have them, without the one that means
// "not given".
func valuesOf(enum protoreflect.EnumDescriptor) []Value {
	words := vocabularyOf(enum.FullName())
	var values []Value
	for i := range enum.Values().Len() {
		if number := enum.Values().Get(i).Number(); number != 0 {
			values = append(values, words.value(number))
		}
	}
	return values
}

// follow sets the type and the limits of a parameter by the field that it feeds. path is the
// field's, in the form of google.rpc.BadRequest, such as location.lat or vote.choices[0].
func (p *Parameter) follow(message protoreflect.MessageDescriptor, path string) {
	name, rest, isNested := strings.Cut(path, ".")
	name, _, isItem := strings.Cut(name, "[")
	field := message.Fields().ByName(protoreflect.Name(name))
	switch {
	case field == nil:
		return
	case isNested && field.Message() != nil:
		p.follow(field.Message(), rest)
		return
	}
	rules, _ := proto.GetExtension(field.Options(), validate.E_Field).(*validate.FieldRules)
	if isItem {
		rules = rules.GetRepeated().GetItems()
	}
	p.setType(field)
	if proto.HasExtension(field.Options(), typev1.E_Id) {
		p.Min, p.Max = new(1.0), new(float64(maxID))
	}
	p.setLimits(rules)
}

// setType sets the type by the kind and the name of a field.
func (p *Parameter) setType(field protoreflect.FieldDescriptor) {
	name := string(field.Name())
	switch field.Kind() {
	case protoreflect.EnumKind:
		p.Type, p.Values = Enum, valuesOf(field.Enum())
	case protoreflect.BoolKind:
		p.Type, p.Values = Boolean, flags()
	case protoreflect.DoubleKind:
		p.Type = Decimal
	case protoreflect.Int32Kind, protoreflect.Int64Kind:
		p.Type = Integer
		if strings.HasSuffix(name, "_id") {
			p.Type = ID
		}
	case protoreflect.StringKind:
		if name == "password" {
			p.Type = Secret
		}
	}
}

// longText is the length from which a text is prose. A page token is shorter, and the length of an
// address is limited in bytes.
const longText = 1000

// setLimits sets the limits by the rules of a field.
func (p *Parameter) setLimits(rules *validate.FieldRules) {
	switch rules.WhichType() {
	case validate.FieldRules_Double_case:
		double := rules.GetDouble()
		if double.HasGte() {
			p.Min = new(double.GetGte())
		}
		if double.HasLte() {
			p.Max = new(double.GetLte())
		}
	case validate.FieldRules_Int32_case:
		p.limit(rules.GetInt32().HasGte(), int64(rules.GetInt32().GetGte()), rules.GetInt32().HasLte(), int64(rules.GetInt32().GetLte()))
	case validate.FieldRules_Int64_case:
		p.limit(rules.GetInt64().HasGte(), rules.GetInt64().GetGte(), rules.GetInt64().HasLte(), rules.GetInt64().GetLte())
	case validate.FieldRules_String__case:
		text := rules.GetString()
		p.MinLength = length(max(text.GetMinLen(), min(text.GetMinBytes(), 1)))
		p.MaxLength = length(max(text.GetMaxLen(), text.GetMaxBytes()))
		p.IsLong = text.GetMaxLen() > longText
	}
}

func (p *Parameter) limit(hasMin bool, lowest int64, hasMax bool, highest int64) {
	if hasMin {
		p.Min = new(float64(lowest))
	}
	if hasMax {
		p.Max = new(float64(highest))
	}
}

// length converts a length; lengths that no text reaches count as none.
func length(n uint64) int {
	if n > math.MaxInt32 {
		return 0
	}
	return int(n)
}
