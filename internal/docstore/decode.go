package docstore

import (
	"bytes"
	"encoding/binary"
	"math"
	"reflect"
	"strings"
	"time"
	"unsafe"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// plan decodes documents into structs of one type. The driver's own codec takes most of
// the time of a long list; a plan takes a fifth of it. It knows the kinds of fields that
// documents here have, in the BSON types that encode gives them, and leaves every other
// document to the driver, so that what comes out is the same.
type plan struct {
	fields []planned
	// endsEarly ends decoding once every field was there.
	endsEarly bool
}

// planned is how a field of a struct is decoded.
type planned struct {
	name string
	// index is the field's index in its struct.
	index int
	kind  fieldKind
	// nested decodes a struct, what a pointer points to, or an element of a slice.
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

var timeType = reflect.TypeFor[time.Time]()

// planFor returns the plan of a struct type, or nil when a field is of no known kind.
func planFor(t reflect.Type) *plan {
	if t.Kind() != reflect.Struct {
		return nil
	}
	p := &plan{}
	for i := range t.NumField() {
		field := t.Field(i)
		name, options, _ := strings.Cut(field.Tag.Get("bson"), ",")
		if strings.EqualFold(name, RevisionField) {
			return nil // find knows that it is no field
		}
		if !field.IsExported() || field.Anonymous || name == "" || name == "-" || options != "" && options != "omitempty" {
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

// decode decodes a document into a zero struct. It reports false, with the struct filled
// in part, when the document is not as planned.
func (p *plan) decode(raw []byte, into reflect.Value) bool {
	body, ok := elementsOf(raw)
	if !ok {
		return false
	}
	expected := 0 // fields come in the order in which they were encoded
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
		if !p.fields[at].decode(e.kind, e.value, into.Field(p.fields[at].index)) {
			return false
		}
	}
	return true
}

// find returns the field of a name, where it is expected first, or -1. It does not know
// names of other letter case, which the driver takes too.
func (p *plan) find(name []byte, expected int) (at int, known bool) {
	if expected < len(p.fields) && p.fields[expected].name == string(name) {
		return expected, true
	}
	if string(name) == RevisionField { // which every document has
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

func (f *planned) decode(kind bson.Type, value []byte, into reflect.Value) bool {
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
		into.SetString(sharedString(value[4 : len(value)-1]))
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
		return kind == bson.TypeEmbeddedDocument && f.nested.decode(value, into)
	case pointer:
		if kind != bson.TypeEmbeddedDocument {
			return false
		}
		into.Set(reflect.New(into.Type().Elem()))
		return f.nested.decode(value, into.Elem())
	case list:
		return kind == bson.TypeArray && f.nested.decodeList(value, into)
	}
	return true
}

// sharedString is a document's bytes as a string, not a copy: a document that was read
// belongs to whoever read it, and nobody changes it (Table).
func sharedString(text []byte) string {
	return unsafe.String(unsafe.SliceData(text), len(text)) // #nosec G103 -- as said above
}

// decodeList decodes an array of documents.
func (p *plan) decodeList(raw []byte, into reflect.Value) bool {
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
		if e.kind != bson.TypeEmbeddedDocument || !p.decode(e.value, into.Index(i)) {
			return false
		}
	}
	return true
}

// element is an element of a document or an array.
type element struct {
	kind        bson.Type
	name, value []byte
}

// nextElement cuts the first element off.
func nextElement(body []byte) (e element, rest []byte, ok bool) {
	end := bytes.IndexByte(body[1:], 0) + 1
	if end == 0 {
		return e, nil, false
	}
	e.kind, e.name, rest = bson.Type(body[0]), body[1:end], body[end+1:]
	size, ok := sizeOf(e.kind, rest)
	if !ok {
		return e, nil, false
	}
	e.value = rest[:size]
	return e, rest[size:], true
}

// elementsOf returns what is between a document's length and its final zero.
func elementsOf(raw []byte) ([]byte, bool) {
	if len(raw) < 5 || int64(binary.LittleEndian.Uint32(raw)) != int64(len(raw)) || raw[len(raw)-1] != 0 {
		return nil, false
	}
	return raw[4 : len(raw)-1], true
}

// sizeOf returns how many bytes an element's value takes, if its type is one that
// documents here have and all of it is there.
func sizeOf(kind bson.Type, rest []byte) (int, bool) {
	size := 0
	switch kind {
	case bson.TypeDouble, bson.TypeDateTime, bson.TypeInt64:
		size = 8
	case bson.TypeInt32:
		size = 4
	case bson.TypeBoolean:
		size = 1
	case bson.TypeNull:
	case bson.TypeString:
		if len(rest) < 5 {
			return 0, false
		}
		length := binary.LittleEndian.Uint32(rest)
		if length < 1 || int64(length) > int64(len(rest)-4) || rest[4+length-1] != 0 {
			return 0, false
		}
		size = 4 + int(length)
	case bson.TypeEmbeddedDocument, bson.TypeArray:
		if len(rest) < 5 {
			return 0, false
		}
		length := binary.LittleEndian.Uint32(rest)
		if length < 5 || int64(length) > int64(len(rest)) {
			return 0, false
		}
		size = int(length)
	default:
		return 0, false
	}
	return size, size <= len(rest)
}
