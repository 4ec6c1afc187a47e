package operation

import (
	"math"
	"strings"

	"buf.build/gen/go/bufbuild/protovalidate/protocolbuffers/go/buf/validate"
	"buf.build/go/protovalidate"
	"google.golang.org/protobuf/reflect/protoreflect"
)

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
	rules, err := protovalidate.ResolveFieldRules(field)
	if err != nil || rules == nil {
		rules = &validate.FieldRules{}
	}
	if isItem {
		rules = rules.GetRepeated().GetItems()
	}
	p.setType(field)
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
