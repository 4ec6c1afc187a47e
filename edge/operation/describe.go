package operation

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"buf.build/gen/go/bufbuild/protovalidate/protocolbuffers/go/buf/validate"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/waybook/waybook/edge/form"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// Description describes an operation to clients, also as JSON.
type Description struct {
	// Func is the value of the parameter func.
	Func string `json:"func"`
	// Variant is in JSON a text such as "delete", or "" if the func has no others.
	Variant Variant    `json:"variant"`
	Rule    string     `json:"-"`
	Title   form.Title `json:"title"`
	Effect  Effect     `json:"effect"`
	// NeedsLogin says that the operation is for users with a session only.
	NeedsLogin bool `json:"login"`
	// IsAddition says that the legacy contract does not have the operation.
	IsAddition bool `json:"addition"`
	// Parameters are the operation's own parameters, in the order in which a failure names them.
	// They leave out the parameters that all operations share.
	Parameters []Parameter `json:"parameters"`
}

// Parameter describes a parameter to clients.
type Parameter struct {
	Name       string     `json:"name"`
	Title      form.Title `json:"title,omitzero"`
	Hint       string     `json:"hint"`
	IsRequired bool       `json:"required"`
	Type       Type       `json:"type"`
	// Min and Max are the lowest and the highest valid number; nil if the contract names none,
	// and for a Type that is no number.
	Min *float64 `json:"min,omitempty"`
	Max *float64 `json:"max,omitempty"`
	// MinLength and MaxLength are the lengths of a text in characters; 0 means any. A limit in
	// bytes counts as one in characters, which no valid text exceeds.
	MinLength int `json:"minLength,omitempty"`
	MaxLength int `json:"maxLength,omitempty"`
	// IsLong says that the text may be prose of several lines.
	IsLong bool `json:"multiline,omitempty"`
	// Values are the valid values of an Enum, or those of a Boolean, in their order.
	Values []Value `json:"values,omitempty"`
	// Fixed is the only valid value, or "" if there are others.
	Fixed string `json:"fixed,omitempty"`
}

// Type says which values a parameter takes.
type Type string

// The types of parameters.
const (
	Text    Type = "text"
	Secret  Type = "password" // a text that no one should read over the user's shoulder
	Integer Type = "integer"  // digits
	ID      Type = "id"       // digits: the identifier of a user or of content
	Decimal Type = "decimal"  // a plain decimal
	Boolean Type = "boolean"  // true or false
	Enum    Type = "enum"     // one of a list
)

// Value is a valid value of a parameter, with its meaning in the words of the legacy contract.
type Value struct {
	Value string `json:"value"`
	Label string `json:"label,omitempty"`
}

// Describe describes every operation of a Config. It calls no service.
func Describe(c *Config) (described []Description) {
	for _, function := range Table(c) {
		for i := range function.Operations {
			described = append(described, function.describe(&function.Operations[i]))
		}
	}
	return described
}

// describe returns the description of an operation. It lets the operation read an empty form,
// and takes types and ranges from the rules of the fields that the parameters feed. So the
// description always matches the code.
func (f *Function) describe(o *Operation) Description {
	d := Description{
		Func: f.Name, Variant: o.Variant, Rule: cmp.Or(o.Rule, f.Rule), Title: f.title(o), Effect: f.Effect,
		NeedsLogin: f.NeedsLogin(),
		IsAddition: f.IsAddition || o.Variant == WithIDs, Parameters: []Parameter{},
	}
	if flag := o.Variant.Flag(); flag != nil {
		p := newParameter(form.Reading{Parameter: *flag, IsRequired: true}, nil)
		p.Type, p.Values, p.Fixed = Boolean, flags(), "true"
		d.Parameters = append(d.Parameters, p)
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

// title returns the name of an operation for people.
func (f *Function) title(o *Operation) form.Title {
	of := selectors[o.Variant].title
	switch none := (form.Title{}); {
	case o.Title != none:
		return o.Title
	case of == none:
		return f.Title
	}
	return form.Title{f.Title[0] + ": " + of[0], f.Title[1] + "（" + of[1] + "）"}
}

// newParameter describes a parameter that feeds a field of a request.
func newParameter(read form.Reading, request proto.Message) Parameter {
	p := Parameter{Name: read.Parameter.Name, Title: read.Parameter.Title, Hint: read.Parameter.Hint,
		IsRequired: read.IsRequired, Type: Text}
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
		p.Min, p.Max = new(1.0), new(float64(form.MaxID))
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
		if name == "password" || strings.HasSuffix(name, "_password") {
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
		limit(p, rules.GetDouble())
	case validate.FieldRules_Int32_case:
		limit(p, rules.GetInt32())
	case validate.FieldRules_Int64_case:
		limit(p, rules.GetInt64())
	case validate.FieldRules_String__case:
		text := rules.GetString()
		p.MinLength = length(max(text.GetMinLen(), min(text.GetMinBytes(), 1)))
		p.MaxLength = length(max(text.GetMaxLen(), text.GetMaxBytes()))
		p.IsLong = text.GetMaxLen() > longText
	}
}

// limit sets the limits of a number.
func limit[N int32 | int64 | float64](p *Parameter, rules interface {
	HasGte() bool
	GetGte() N
	HasLte() bool
	GetLte() N
}) {
	if rules.HasGte() {
		p.Min = new(float64(rules.GetGte()))
	}
	if rules.HasLte() {
		p.Max = new(float64(rules.GetLte()))
	}
}

// length converts a length; lengths that no text reaches count as none.
func length(n uint64) int {
	if n > math.MaxInt32 {
		return 0
	}
	return int(n)
}
