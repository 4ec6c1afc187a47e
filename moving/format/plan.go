package format

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"sync"

	"buf.build/gen/go/bufbuild/protovalidate/protocolbuffers/go/buf/validate"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/waybook/waybook/internal/id"
	moveinv1 "github.com/waybook/waybook/proto/gen/waybook/movein/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// form is how a value is written.
type form int

const (
	formText    form = iota // a string
	formID                  // a string, or a positive integer
	formUser                // a positive integer, or its digits as a string
	formInteger             // an integer
	formDecimal             // a number
	formWord                // a word of an enumeration
	formTime                // a time, or seconds since 1970
	formDay                 // YYYY-MM-DD
	formObject              // an object
	formList                // an array of objects
)

// plan says how the fields of a message are read.
type plan struct {
	// kind is that of records; empty for the objects in them.
	kind   Kind
	fields []*field
	byName map[string]*field
	// names are the names of the fields, and oneOf of those of which exactly one is required, for
	// people.
	names, oneOf string
}

// field is a field of a message, with the rules that its options have.
type field struct {
	protoreflect.FieldDescriptor
	form form
	// read reads a value that is not null.
	read func(r *reading, f *field, into protoreflect.Message, path string)
	// name is the field's name, and bit its bit in the set of the fields that were read.
	name string
	bit  uint64
	// required says that the zero value is no value.
	required bool
	// maxLen counts characters, and maxBytes bytes in UTF-8. 0 is no bound.
	maxLen, maxBytes int
	// isName says that the text has a visible character.
	isName bool
	// pattern matches a text; nil for any. wanted says to people what it matches, or which number
	// is wanted.
	pattern *regexp.Regexp
	wanted  string
	// min and max bound numbers and items. Each is below 2^53.
	min, max float64
	// words are the words of an enumeration.
	words []string
	// parent is the kind of the content that the field names, to which the record belongs.
	parent Kind
	// object is the plan of an object, or of the items of a list.
	object *plan
	// repair is the rule that gives the field the value mended, or none if that is invalid, in
	// place of a bad one.
	repair Repair
	mended protoreflect.Value
}

// patterns are those that are no pattern of the field's options. The first is that of
// protovalidate, the rule email. The account server knows more about hashes.
const (
	emailPattern = "^[a-zA-Z0-9.!#$%&'*+/=?^_`{|}~-]+@[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?" +
		`(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*$`
	passwordPattern = `^(\$argon2id\$|\$2[aby]\$|\$[PH1]\$|(md5|sha1|sha256|sha512)(-suffix|-twice)?\$)` +
		`|^([0-9a-fA-F]{40}|[0-9a-fA-F]{32}|[0-9a-fA-F]{64}|[0-9a-fA-F]{128})$` // #nosec G101 -- forms, no password
)

// plans returns the plan of each kind but end.
var plans = sync.OnceValue(func() map[Kind]*plan {
	all := map[Kind]*plan{}
	fields := (*moveinv1.Record)(nil).ProtoReflect().Descriptor().Fields()
	for i := range fields.Len() {
		p := planOf(fields.Get(i).Message())
		p.kind = Kind(fields.Get(i).Name())
		all[p.kind] = p
	}
	return all
})

func planOf(message protoreflect.MessageDescriptor) *plan {
	p := &plan{byName: map[string]*field{}}
	for i := range message.Fields().Len() {
		f := newField(message.Fields().Get(i))
		f.bit = 1 << i
		p.fields, p.byName[f.name] = append(p.fields, f), f
		p.names += ", " + f.name
		if f.isChoice() {
			p.oneOf += ", " + f.name
		}
	}
	p.names, p.oneOf = strings.TrimPrefix(p.names, ", "), strings.TrimPrefix(p.oneOf, ", ")
	return p
}

// isChoice reports whether exactly one of this field and others is required.
func (f *field) isChoice() bool {
	return f.ContainingOneof() != nil && !f.ContainingOneof().IsSynthetic()
}

func newField(of protoreflect.FieldDescriptor) *field {
	f := &field{FieldDescriptor: of, name: string(of.Name())}
	rules, _ := proto.GetExtension(of.Options(), validate.E_Field).(*validate.FieldRules)
	f.take(rules)
	f.isName, _ = proto.GetExtension(of.Options(), typev1.E_Name).(bool)
	isID := f.name == "id" || strings.HasSuffix(f.name, "_id")
	switch kind := of.Kind(); {
	case kind == protoreflect.StringKind && isID:
		f.form, f.read = formID, (*reading).id
		if content := Kind(strings.TrimSuffix(f.name, "_id")); slices.Contains(Kinds(), content) {
			f.parent = content
		}
	case kind == protoreflect.StringKind:
		f.form, f.read = formText, (*reading).text
	case kind == protoreflect.Int64Kind && isID:
		f.form, f.read = formUser, (*reading).id
		f.max, f.required = id.Max, !rules.GetInt64().HasGte() // as the option waybook.type.v1.id says
	case kind == protoreflect.Int64Kind, kind == protoreflect.Int32Kind:
		f.form, f.read, f.wanted = formInteger, (*reading).number, "an integer"
	case kind == protoreflect.DoubleKind:
		f.form, f.read, f.wanted = formDecimal, (*reading).number, "a number"
	case kind == protoreflect.EnumKind:
		f.form, f.read, f.words = formWord, (*reading).word, words()[of.Enum().FullName()]
	case of.Message().FullName() == "google.protobuf.Timestamp":
		f.form, f.read = formTime, (*reading).time
	case of.Message().FullName() == "waybook.type.v1.Date":
		f.form, f.read = formDay, (*reading).day
	case of.IsList():
		f.form, f.read, f.object = formList, (*reading).list, planOf(of.Message())
	default:
		f.form, f.read, f.object = formObject, (*reading).vote, planOf(of.Message())
	}
	f.repair = standards()[f.name]
	f.mended = f.standard()
	return f
}

// take takes the rules of protovalidate that the messages have.
// TestTheDecoderAgreesWithTheServices finds others.
func (f *field) take(rules *validate.FieldRules) {
	text, integer, long := rules.GetString(), rules.GetInt32(), rules.GetInt64()
	decimal, items := rules.GetDouble(), rules.GetRepeated()
	f.maxLen, f.maxBytes = int(text.GetMaxLen()), int(text.GetMaxBytes()) // #nosec G115 -- at most 100,000
	f.min = cmp.Or(float64(integer.GetGte()), float64(long.GetGte()), decimal.GetGte(), float64(items.GetMinItems()))
	f.max = cmp.Or(float64(integer.GetLte()), float64(long.GetLte()), decimal.GetLte(), float64(items.GetMaxItems()))
	f.required = !f.isChoice() && (rules.GetRequired() || text.GetMinLen() > 0 || text.HasPattern() ||
		len(rules.GetEnum().GetNotIn()) > 0 || f.min > 0 && !f.HasPresence())
	switch {
	case f.name == "password_hash":
		f.pattern, f.wanted = regexp.MustCompile(passwordPattern), "one of the forms of docs/moving-in.md"
	case text.GetEmail():
		f.pattern, f.wanted = regexp.MustCompile(emailPattern), "an email address"
	case text.HasPattern():
		f.pattern, f.wanted = regexp.MustCompile(text.GetPattern()), "a text like "+text.GetPattern()
	}
}

// words returns the words of the enumerations, in the order of their numbers (rules 7.2 and 7.3).
// 0 has none.
func words() map[protoreflect.FullName][]string {
	return map[protoreflect.FullName][]string{
		"waybook.blog.v1.BlogType": {"", "0_0", "0_1", "0_2", "0_3", "0_4", "0_5", "0_6", "0_7", "0_8"},
		"waybook.blog.v1.Weather":  {"", "晴空萬里", "狂風暴雨", "陰雨綿綿", "雨過天晴", "烏雲滿天", "大雪數日", "有彩虹"},
	}
}
