package format

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/waybook/waybook/internal/text"
	moveinv1 "github.com/waybook/waybook/proto/gen/waybook/movein/v1"
)

const (
	// maxFaults bounds the faults of a line.
	maxFaults = 20
	// maxFields bounds the fields of an object, for memory.
	maxFields = 1000
	// maxShown is the most bytes of a value in a message.
	maxShown = 60
)

// Decode reads a line.
func (d Decoder) Decode(line []byte) Line {
	r := reading{decoder: d}
	if !d.Repair && !utf8.Valid(line) {
		r.fault(Unreadable, "", "", "this is not valid UTF-8; convert these rows, or repair them with --repair")
		return Line{Faults: r.faults}
	}
	var few [24]given // enough for most records, and not on the heap
	fields, isObject := fieldsIn(line, few[:0])
	if !isObject {
		r.fault(Unreadable, "", "", "this is not a JSON object of at most %d fields; each line must be one "+
			"complete object", maxFields)
		return Line{Faults: r.faults}
	}
	kind := Kind("")
	if i := slices.IndexFunc(fields, func(g given) bool { return g.name == "kind" }); i >= 0 {
		name, _ := stringOf(fields[i].value)
		kind, fields = Kind(name), slices.Delete(fields, i, i+1)
	}
	if kind == KindEnd {
		return Line{Kind: kind, End: r.end(fields), Faults: r.faults}
	}
	p := plans()[kind]
	if p == nil {
		r.fault(Unreadable, "kind", "", "want one of %v", Kinds())
		return Line{Faults: r.faults}
	}
	record := &moveinv1.Record{}
	message := record.ProtoReflect()
	content := message.Descriptor().Fields().ByName(protoreflect.Name(kind))
	r.object(p, message.Mutable(content).Message(), fields, "")
	if IsMended(r.faults) {
		r.whole(record)
	}
	return Line{Kind: kind, Record: record, Faults: r.faults}
}

type reading struct {
	decoder Decoder
	faults  []Fault
	// raw is the value that is being read.
	raw []byte
}

// fault adds a fault, and reports whether it is to be mended by a rule. A fault that is not mended
// takes the last place if there is none left.
func (r *reading) fault(class Class, field string, repair Repair, format string, args ...any) (isMended bool) {
	if !r.decoder.Repair {
		repair = ""
	}
	if len(r.faults) == maxFaults && repair == "" {
		r.faults = r.faults[:maxFaults-1]
	}
	if len(r.faults) == maxFaults {
		return true
	}
	fault := Fault{
		Field: strings.ToValidUTF8(field, "\uFFFD"), Class: class, Value: shown(r.raw),
		Text: fmt.Sprintf(format, args...), Repair: repair,
	}
	if field == "password_hash" || field == "idrand" { // an unknown form may be the password itself
		fault.Value = ""
	}
	r.faults = append(r.faults, fault)
	return repair != ""
}

// bad adds a fault of a value in place of which the field's rule may give another, and reports
// whether it does.
func (r *reading) bad(f *field, into protoreflect.Message, class Class, path, format string,
	args ...any) (isMended bool) {
	isMended = r.fault(class, path, f.repair, format, args...)
	if isMended && f.mended.IsValid() {
		into.Set(f.FieldDescriptor, f.mended)
	}
	return isMended
}

// end reads the counts of a line of the kind end.
func (r *reading) end(fields []given) map[Kind]int64 {
	counts := map[Kind]int64{}
	for _, g := range fields {
		kind := Kind(g.name)
		count, err := strconv.ParseInt(string(g.value), 10, 64)
		r.raw = g.value
		switch _, isTwice := counts[kind]; {
		case plans()[kind] == nil:
			r.fault(UnknownField, g.name, "", "this is no kind of records; want some of %v", Kinds())
		case isTwice:
			r.fault(Conflict, g.name, "", "this field is there twice")
		case err != nil || count < 0:
			r.fault(WrongType, g.name, "", "%s is no number of records", shown(g.value))
		default:
			counts[kind] = count
		}
	}
	return counts
}

func (r *reading) object(p *plan, into protoreflect.Message, fields []given, path string) {
	var seen, present uint64
	for _, g := range fields {
		f := p.byName[g.name]
		r.raw = g.value
		switch {
		case f == nil && g.name != "kind":
			r.fault(UnknownField, path+g.name, "unknown-field", "there is no such field; want some of %s", p.names)
		case f == nil || seen&f.bit != 0:
			r.fault(Conflict, path+g.name, "", "this field is there twice")
		case string(g.value) == "null":
			seen |= f.bit
		default:
			seen, present = seen|f.bit, present|f.bit
			f.read(r, f, into, path+f.name)
		}
	}
	r.raw = nil
	parents := 0
	for _, f := range p.fields {
		switch isPresent := present&f.bit != 0; {
		case f.required && !isPresent:
			r.bad(f, into, Missing, path+f.name, "this field is required")
		case isPresent && f.parent != "":
			parents++
		}
	}
	if p.oneOf != "" && parents != 1 {
		r.fault(Conflict, "", "", "exactly one of %s is required", p.oneOf)
	}
}

// vote reads an object in a record. A vote that cannot be read is left out, as a whole.
func (r *reading) vote(f *field, into protoreflect.Message, path string) {
	before := len(r.faults)
	r.nested(f, into.Mutable(f.FieldDescriptor).Message(), path)
	if faults := r.faults[before:]; r.decoder.Repair && !IsMended(faults) {
		into.Clear(f.FieldDescriptor)
		for i := range faults {
			faults[i].Repair = cmp.Or(faults[i].Repair, f.repair)
		}
	}
}

func (r *reading) nested(f *field, into protoreflect.Message, path string) {
	fields, isObject := fieldsIn(r.raw, nil)
	if !isObject {
		r.fault(WrongType, path, "", "want an object")
		return
	}
	r.object(f.object, into, fields, path+".")
}

func (r *reading) list(f *field, into protoreflect.Message, path string) {
	var items []json.RawMessage
	if json.Unmarshal(r.raw, &items) != nil {
		r.fault(WrongType, path, "", "want an array")
		return
	}
	if n := float64(len(items)); n < f.min || n > f.max {
		r.fault(OutOfRange, path, "", "%v items; want %v to %v", n, f.min, f.max)
		return
	}
	list := into.Mutable(f.FieldDescriptor).List()
	for i, item := range items {
		r.raw = item
		r.nested(f, list.AppendMutable().Message(), fmt.Sprintf("%s[%d]", path, i))
	}
}

// stringOf returns the text of a JSON string.
func stringOf(raw []byte) (text string, isText bool) {
	if len(raw) == 0 || raw[0] != '"' {
		return "", false
	}
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1 : len(raw)-1]), true
	}
	return text, json.Unmarshal(raw, &text) == nil
}

// shown returns the beginning of a value for a message.
func shown(raw []byte) string {
	return strings.ToValidUTF8(text.Beginning(string(raw[:min(len(raw), maxShown+1)]), maxShown), "\uFFFD")
}

// given is a field of an object, with its value as it is written.
type given struct {
	name  string
	value []byte
}

// fieldsIn appends the fields of a JSON object, in their order. The values are parts of data. It
// reports false if data is no object, or has too many fields. A map of json.RawMessage takes
// several times as long.
func fieldsIn(data []byte, into []given) (_ []given, isObject bool) {
	d := jsontext.NewDecoder(bytes.NewBuffer(data), jsontext.AllowInvalidUTF8(true),
		jsontext.AllowDuplicateNames(true))
	if begin, err := d.ReadToken(); err != nil || begin.Kind() != '{' {
		return nil, false
	}
	for d.PeekKind() != '}' {
		token, err := d.ReadToken()
		if err != nil || len(into) == maxFields {
			return nil, false
		}
		name := token.String() // valid until the next call
		value, err := d.ReadValue()
		if err != nil {
			return nil, false
		}
		end := d.InputOffset()
		into = append(into, given{name, data[end-int64(len(value)) : end]})
	}
	_, endErr := d.ReadToken()
	_, moreErr := d.ReadToken()
	return into, endErr == nil && errors.Is(moreErr, io.EOF)
}
