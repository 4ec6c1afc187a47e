package movefile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/waybook/waybook/internal/text"
)

// Options say how records are read.
type Options struct {
	// Zone is the time zone of times that name none.
	Zone *time.Location
	// Allowed are the allowances.
	Allowed Allowed
}

// Decoder reads records. It is safe for concurrent use.
type Decoder struct {
	options Options
	plans   map[Kind]*plan
}

// NewDecoder returns a Decoder.
func NewDecoder(options Options) *Decoder { return &Decoder{options: options, plans: plans()} }

// maxFaults bounds the faults of one record. There may be twice as many if some are not allowed, so allowed ones hide no other.
const maxFaults = 20

// Decode reads a line and returns its record with everything that is wrong with it. The record is
// nil if the line is none. A record with faults has the fields that could be read.
func (d *Decoder) Decode(line []byte) (Record, []Fault) {
	if !utf8.Valid(line) {
		return nil, []Fault{{Class: Unreadable, Text: "this is not valid UTF-8; convert the file, as with iconv -f BIG5 -t UTF-8, or these rows if others are UTF-8"}}
	}
	var few [16]given // enough for most records, and not on the heap
	fields, isObject := fieldsIn(line, few[:0])
	if !isObject {
		return nil, []Fault{{Class: Unreadable, Text: "this is not a JSON object; each line must be one complete object"}}
	}
	kind, _ := stringOf(valueOf(fields, "kind"))
	p := d.plans[Kind(kind)]
	if p == nil {
		return nil, []Fault{{Class: Unreadable, Field: "kind", Text: fmt.Sprintf("want one of %v", Kinds())}}
	}
	made := reflect.New(p.of)
	record := made.Interface().(Record)
	r := reading{decoder: d, isPart: Kind(kind).IsPart()}
	r.object(p, made.Elem(), fields, "")
	r.whole(record)
	return record, r.faults
}

// reading reads one record.
type reading struct {
	decoder *Decoder
	faults  []Fault
	// raw is the value that is being read.
	raw json.RawMessage
	// isPart says that the record can be left out alone. inVote says that a vote is being read, and
	// isVoteBad that it has a fault for which it is left out.
	isPart, inVote, isVoteBad bool
}

// fault adds a fault, and reports whether it is allowed.
func (r *reading) fault(class Class, field string, allow Allowance, format string, args ...any) (isAllowed bool) {
	allowed := r.decoder.options.Allowed
	switch {
	case r.isPart && (allow == "" || !allowed.Has(allow) && allowed.Has(BadParts)):
		allow = BadParts
	case r.inVote && allow == "":
		allow, r.isVoteBad = OddValues, true
	}
	isAllowed = allow != "" && allowed.Has(allow)
	if len(r.faults) < maxFaults || !isAllowed && len(r.faults) < 2*maxFaults {
		r.faults = append(r.faults, Fault{
			Class: class, Field: field, Value: shown(r.raw), Text: fmt.Sprintf(format, args...), Allow: allow, IsAllowed: isAllowed,
		})
	}
	return isAllowed
}

// odd adds a fault of a value that a standard one may replace.
func (r *reading) odd(f *field, into reflect.Value, class Class, path, format string, args ...any) {
	var allow Allowance
	switch {
	case f.isOwner():
		allow = NewOwner
	case f.rule.form == formMoment, f.rule.form == formDay:
		allow = BadTimes
	case f.rule.hasStandard, f.rule.word != "":
		allow = OddValues
	default:
		allow = f.rule.short
	}
	if !r.fault(class, path, allow, format, args...) {
		return
	}
	switch {
	case f.rule.form == formMoment && f.required:
		into.Set(reflect.ValueOf(Moment{Time: time.Unix(0, 0).UTC()}))
	case f.rule.form == formInteger:
		into.SetInt(f.rule.standard)
	case f.rule.form == formDecimal:
		into.SetFloat(float64(f.rule.standard))
	case f.rule.word != "":
		into.SetString(f.rule.word)
	}
}

// object reads the fields of an object.
func (r *reading) object(p *plan, into reflect.Value, fields []given, path string) {
	var parents []string
	for i := range p.fields {
		f := &p.fields[i]
		raw := valueOf(fields, f.name)
		if raw == nil || string(raw) == "null" {
			if f.required {
				r.odd(f, into.Field(f.index), Missing, path+f.name, "this field is required")
			}
			continue
		}
		if f.isParent {
			parents = append(parents, f.name)
		}
		r.value(f, into.Field(f.index), raw, path+f.name)
	}
	for n, g := range fields {
		r.raw = g.value
		switch {
		case p.field(string(g.name)) == nil && (path != "" || string(g.name) != "kind"):
			r.fault(UnknownField, path+string(g.name), "", "there is no such field; want some of %s", p.names())
		case slices.ContainsFunc(fields[:n], func(before given) bool { return bytes.Equal(before.name, g.name) }):
			r.fault(Conflict, path+string(g.name), "", "this field is there twice")
		}
	}
	r.raw = nil
	if p.hasParent && len(parents) != 1 {
		r.fault(Conflict, "", "", "exactly one of %s is required", strings.Join(p.parents(), ", "))
	}
}

func (p *plan) names() string {
	names := make([]string, len(p.fields))
	for i, f := range p.fields {
		names[i] = f.name
	}
	return strings.Join(names, ", ")
}

// value reads a value.
func (r *reading) value(f *field, into reflect.Value, raw json.RawMessage, path string) {
	r.raw = raw
	defer func() { r.raw = nil }()
	if f.name == "vote" {
		r.inVote = true
		defer func(vote reflect.Value) {
			if r.inVote = false; r.isVoteBad && r.decoder.options.Allowed.Has(OddValues) {
				vote.SetZero()
			}
		}(into)
	}
	if into.Kind() == reflect.Pointer {
		into.Set(reflect.New(into.Type().Elem()))
		into = into.Elem()
	}
	switch f.rule.form {
	case formText:
		if text, ok := r.text(f, raw, path); ok {
			into.SetString(text)
		}
	case formID:
		r.id(f, into, raw, path)
	case formInteger, formDecimal:
		r.number(f, into, raw, path)
	case formMoment:
		text, isText := stringOf(raw)
		if !isText {
			text = string(raw)
		}
		moment, ok := parseMoment(text, !isText, r.decoder.options.Zone)
		if !ok {
			r.odd(f, into, WrongType, path, "%s is no time; want 2008-03-05T09:07:31Z, 2008-03-05 09:07:31 or seconds since 1970", shown(raw))
			return
		}
		into.Set(reflect.ValueOf(moment))
	case formDay:
		text, isText := stringOf(raw)
		if !isText || !isDay(text) {
			r.odd(f, into, WrongType, path, "%s is no day of the calendar; want YYYY-MM-DD", shown(raw))
			return
		}
		into.SetString(text)
	case formObject:
		r.nested(f, into, raw, path)
	case formList:
		r.list(f, into, raw, path)
	}
}

func (r *reading) nested(f *field, into reflect.Value, raw json.RawMessage, path string) {
	fields, isObject := fieldsIn(raw, nil)
	if !isObject {
		r.fault(WrongType, path, "", "want an object")
		return
	}
	r.object(f.object, into, fields, path+".")
}

func (r *reading) list(f *field, into reflect.Value, raw json.RawMessage, path string) {
	var items []json.RawMessage
	if json.Unmarshal(raw, &items) != nil {
		r.fault(WrongType, path, "", "want an array")
		return
	}
	if n := int64(len(items)); n < f.rule.min || n > f.rule.max {
		r.fault(OutOfRange, path, "", "%d items; want %d to %d", n, f.rule.min, f.rule.max)
		return
	}
	into.Set(reflect.MakeSlice(into.Type(), len(items), len(items)))
	for i, item := range items {
		r.nested(f, into.Index(i), item, fmt.Sprintf("%s[%d]", path, i))
	}
}

// stringOf returns the text of a JSON string.
func stringOf(raw json.RawMessage) (text string, isText bool) {
	if len(raw) == 0 || raw[0] != '"' {
		return "", false
	}
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1 : len(raw)-1]), true
	}
	return text, json.Unmarshal(raw, &text) == nil
}

// maxShown is the most bytes of a value in a message.
const maxShown = 60

// shown returns the beginning of a value for a message.
func shown(raw []byte) string {
	return text.Beginning(string(raw[:min(len(raw), maxShown+1)]), maxShown)
}

// given is a field of an object, with its value as it is written.
type given struct {
	name  []byte
	value json.RawMessage
}

// maxFields bounds the fields of an object that are looked at. No record has as many.
const maxFields = 100

// fieldsIn appends the first fields of a JSON object, in their order. The values are parts of data. It reports false
// if data is no object. A map of json.RawMessage takes several times as long: encoding/json looks at each value three
// times.
func fieldsIn(data []byte, into []given) (_ []given, isObject bool) {
	if !json.Valid(data) {
		return nil, false
	}
	rest := skipSpace(data)
	if rest[0] != '{' {
		return nil, false
	}
	// What follows relies on data being valid.
	for rest = skipSpace(rest[1:]); rest[0] != '}'; rest = skipSpace(rest) {
		if rest[0] == ',' {
			rest = skipSpace(rest[1:])
		}
		end := endOfValue(rest)
		name := rest[1 : end-1]
		if bytes.IndexByte(name, '\\') >= 0 {
			text, _ := stringOf(rest[:end])
			name = []byte(text)
		}
		rest = skipSpace(rest[end:])
		rest = skipSpace(rest[1:]) // the colon
		end = endOfValue(rest)
		value := rest[:end:end]
		if rest = rest[end:]; len(into) < maxFields {
			into = append(into, given{name, value})
		}
	}
	return into, true
}

// valueOf returns the value of a field; nil if it is not there.
func valueOf(fields []given, name string) json.RawMessage {
	for i := range fields {
		if string(fields[i].name) == name {
			return fields[i].value
		}
	}
	return nil
}

func skipSpace(data []byte) []byte {
	for len(data) > 0 && data[0] <= ' ' {
		data = data[1:]
	}
	return data
}

// endOfValue returns the length of the value with which valid JSON begins.
func endOfValue(data []byte) int {
	depth, isText := 0, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case isText && c == '\\':
			i++
		case c == '"':
			if isText = !isText; !isText && depth == 0 {
				return i + 1
			}
		case isText:
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			if depth == 0 {
				return i
			}
			if depth--; depth == 0 {
				return i + 1
			}
		case depth == 0 && (c == ',' || c == ':' || c <= ' '):
			return i
		}
	}
	return len(data)
}
