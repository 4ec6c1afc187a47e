package docstore

import (
	"encoding/binary"
	"math"
	"reflect"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/waybook/waybook/internal/arena"
)

// texts keeps the texts of documents that are lent. A nil one shares them with their documents,
// which is safe for documents that a Collection owns and never changes.
type texts struct {
	arena *arena.Arena
	block []byte
	// read and left are the bytes of the documents that were read and of those to come; kept are
	// those of the texts.
	read, left, kept int
}

// textsOf returns texts for documents that are lent.
func textsOf(raws []bson.Raw, into *arena.Arena) *texts {
	t := &texts{arena: into}
	for _, raw := range raws {
		t.left += len(raw)
	}
	return t
}

// next says that a document has been read.
func (t *texts) next(raw bson.Raw) {
	if t != nil {
		t.read += len(raw)
		t.left -= len(raw)
	}
}

// expected returns how many bytes the texts to come probably have.
func (t *texts) expected() int {
	if t.read == 0 {
		return min(t.left/2, firstTextBytes)
	}
	return min(t.left*t.kept/t.read, sharedTextBytes)
}

// keep returns a text as a string that stays good.
func (t *texts) keep(text []byte) string {
	if t == nil {
		return sharedString(text)
	}
	if len(text) == 0 {
		return ""
	}
	if cap(t.block)-len(t.block) < len(text) {
		t.block = arena.Slice[byte](t.arena, max(len(text), t.expected()))[:0]
	}
	t.kept += len(text)
	start := len(t.block)
	t.block = append(t.block, text...)
	return sharedString(t.block[start:])
}

// plan decodes documents into structs of one type, in a fifth of the time that the
// driver's codec takes. The codec would take most of the time of a long list.
//
// A plan supports the field types that Waybook's documents have, in the BSON types that
// encode writes. The driver decodes every other document, so the result is the same.
type plan struct {
	fields []planned
	// endsEarly stops decoding once all fields have been found.
	endsEarly bool
}

// planned describes how to decode one field of a struct.
type planned struct {
	name string
	// index is the field's index in its struct.
	index int
	kind  fieldKind
	// nested decodes a struct, the target of a pointer, or the elements of a slice.
	nested *plan
}

type fieldKind int

const (
	integer fieldKind = iota + 1
	float
	text
	boolean
	moment
	structure
	pointer
	list
)

// planFor returns the plan of a struct type, or nil if the type or one of its fields is
// not supported.
func planFor(t reflect.Type) *plan {
	if t.Kind() != reflect.Struct {
		return nil
	}
	p := &plan{}
	for i := range t.NumField() {
		field := t.Field(i)
		name, options, _ := strings.Cut(field.Tag.Get("bson"), ",")
		if strings.EqualFold(name, RevisionField) || strings.EqualFold(name, AddsField) {
			return nil // find skips these
		}
		if !field.IsExported() || field.Anonymous || name == "" || name == "-" ||
			options != "" && options != "omitempty" {
			return nil
		}
		of := planned{name: name, index: i}
		inner := field.Type
		switch {
		case inner == timeType:
			of.kind = moment
		case inner.Kind() == reflect.Int64, inner.Kind() == reflect.Int32:
			of.kind = integer
		case inner.Kind() == reflect.Float64:
			of.kind = float
		case inner.Kind() == reflect.String:
			of.kind = text
		case inner.Kind() == reflect.Bool:
			of.kind = boolean
		case inner.Kind() == reflect.Struct:
			of.kind = structure
		case inner.Kind() == reflect.Pointer:
			of.kind, inner = pointer, inner.Elem()
		case inner.Kind() == reflect.Slice:
			of.kind, inner = list, inner.Elem()
		default:
			return nil
		}
		if of.kind >= structure {
			if of.nested = planFor(inner); of.nested == nil || inner == timeType {
				return nil
			}
		}
		p.fields = append(p.fields, of)
	}
	return p
}

// decode decodes a document into a zero struct, with its texts in keep. It returns false if the
// plan does not support the document; the struct may then be filled in part.
func (p *plan) decode(raw []byte, into reflect.Value, keep *texts) bool {
	body, ok := elementsOf(raw)
	if !ok {
		return false
	}
	expected := 0 // fields usually appear in the order in which they were encoded
	for left := len(p.fields); len(body) > 0 && !(p.endsEarly && left == 0); {
		var e element
		if e, body, ok = nextElement(body); !ok {
			return false
		}
		at, known := p.find(e.name, expected)
		if !known {
			return false
		}
		if at < 0 {
			continue
		}
		expected = at + 1
		left--
		if !p.fields[at].decode(e.kind, e.value, into.Field(p.fields[at].index), keep) {
			return false
		}
	}
	return true
}

// find returns the index of the field with the given name, or -1 if there is none. It
// tries the expected index first. known is false if a field differs from the name in
// letter case only: the driver would accept that one.
func (p *plan) find(name []byte, expected int) (at int, known bool) {
	if expected < len(p.fields) && p.fields[expected].name == string(name) {
		return expected, true
	}
	if string(name) == RevisionField || string(name) == AddsField { // maintained by engines, in no struct
		return -1, true
	}
	known = true
	for i := range p.fields {
		if p.fields[i].name == string(name) {
			return i, true
		}
		known = known && !strings.EqualFold(p.fields[i].name, string(name))
	}
	return -1, known
}

func (f *planned) decode(kind bson.Type, value []byte, into reflect.Value, keep *texts) bool {
	switch f.kind {
	case integer:
		switch {
		case kind == bson.TypeInt64 && into.Kind() == reflect.Int64:
			into.SetInt(int64(binary.LittleEndian.Uint64(value)))
		case kind == bson.TypeInt32:
			into.SetInt(int64(int32(binary.LittleEndian.Uint32(value))))
		default:
			return false
		}
	case float:
		if kind != bson.TypeDouble {
			return false
		}
		into.SetFloat(math.Float64frombits(binary.LittleEndian.Uint64(value)))
	case text:
		if kind != bson.TypeString {
			return false
		}
		into.SetString(keep.keep(value[4 : len(value)-1]))
	case boolean:
		if kind != bson.TypeBoolean || value[0] > 1 {
			return false
		}
		into.SetBool(value[0] == 1)
	case moment:
		if kind != bson.TypeDateTime {
			return false
		}
		*into.Addr().Interface().(*time.Time) = time.UnixMilli(int64(binary.LittleEndian.Uint64(value))).UTC()
	case structure:
		return kind == bson.TypeEmbeddedDocument && f.nested.decode(value, into, keep)
	case pointer:
		if kind != bson.TypeEmbeddedDocument {
			return false
		}
		into.Set(reflect.New(into.Type().Elem()))
		return f.nested.decode(value, into.Elem(), keep)
	case list:
		return kind == bson.TypeArray && f.nested.decodeList(value, into, keep)
	}
	return true
}

// decodeList decodes an array of documents.
func (p *plan) decodeList(raw []byte, into reflect.Value, keep *texts) bool {
	body, ok := elementsOf(raw)
	if !ok {
		return false
	}
	length := 0
	for rest := body; len(rest) > 0; length++ {
		if _, rest, ok = nextElement(rest); !ok {
			return false
		}
	}
	into.Set(reflect.MakeSlice(into.Type(), length, length))
	for i := range length {
		var e element
		e, body, _ = nextElement(body)
		if e.kind != bson.TypeEmbeddedDocument || !p.decode(e.value, into.Index(i), keep) {
			return false
		}
	}
	return true
}
