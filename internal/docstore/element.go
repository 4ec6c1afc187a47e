package docstore

import (
	"bytes"
	"encoding/binary"
	"errors"
	"unsafe"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// errMalformed reports bytes that are no BSON document.
var errMalformed = errors.New("docstore: a document is malformed")

// element is an element of a document or an array.
type element struct {
	kind        bson.Type
	name, value []byte
}

// nextElement splits off the first element.
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

// elementsOf returns the bytes between the length and the final zero byte of a document.
func elementsOf(raw []byte) ([]byte, bool) {
	if len(raw) < 5 || int64(binary.LittleEndian.Uint32(raw)) != int64(len(raw)) || raw[len(raw)-1] != 0 {
		return nil, false
	}
	return raw[4 : len(raw)-1], true
}

// lookup returns the element with the given name, of a body without errors.
func lookup(body []byte, name string) (element, bool) {
	found, _, ok := search(body, name)
	return found, ok
}

// search is lookup, and returns what comes after the element.
func search(body []byte, name string) (found element, rest []byte, ok bool) {
	for len(body) > 0 {
		if found, rest, ok = nextElement(body); !ok || string(found.name) == name {
			return found, rest, ok
		}
		body = rest
	}
	return element{}, nil, false
}

// finder finds elements of a body by their names, fast in the order of the body.
type finder struct{ body, rest []byte }

func findIn(body []byte) finder { return finder{body, body} }

func (f *finder) find(name string) (found element, ok bool) {
	if len(f.rest) > 0 {
		if e, rest, ok := nextElement(f.rest); ok && string(e.name) == name {
			f.rest = rest
			return e, true
		}
	}
	found, rest, ok := search(f.body, name)
	if ok {
		f.rest = rest
	}
	return found, ok
}

// raw returns the value as the driver presents it.
func (e element) raw() bson.RawValue { return bson.RawValue{Type: e.kind, Value: e.value} }

// sizeOf returns the size of an element's value in bytes. It returns false if the type is
// not known or the value is incomplete.
func sizeOf(kind bson.Type, rest []byte) (int, bool) {
	size := 0
	switch kind {
	case bson.TypeNull, bson.TypeUndefined, bson.TypeMinKey, bson.TypeMaxKey:
	case bson.TypeBoolean:
		size = 1
	case bson.TypeInt32:
		size = 4
	case bson.TypeDouble, bson.TypeDateTime, bson.TypeInt64, bson.TypeTimestamp:
		size = 8
	case bson.TypeObjectID:
		size = 12
	case bson.TypeDecimal128:
		size = 16
	case bson.TypeString, bson.TypeJavaScript, bson.TypeSymbol:
		return textSize(rest)
	case bson.TypeDBPointer:
		text, ok := textSize(rest)
		return text + 12, ok && text+12 <= len(rest)
	case bson.TypeRegex:
		pattern := bytes.IndexByte(rest, 0) + 1
		options := bytes.IndexByte(rest[pattern:], 0) + 1
		return pattern + options, pattern > 0 && options > 0
	case bson.TypeBinary:
		return prefixedSize(rest, 0, 5)
	case bson.TypeEmbeddedDocument, bson.TypeArray:
		return prefixedSize(rest, 5, 0)
	case bson.TypeCodeWithScope:
		return prefixedSize(rest, 14, 0)
	default:
		return 0, false
	}
	return size, size <= len(rest)
}

// prefixedSize returns the size of a value that begins with a length of at least least bytes,
// and has more bytes than that length.
func prefixedSize(rest []byte, least uint32, more int64) (int, bool) {
	if len(rest) < 4 {
		return 0, false
	}
	length := binary.LittleEndian.Uint32(rest)
	return int(int64(length) + more), length >= least && int64(length)+more <= int64(len(rest))
}

// textSize returns the size of a text with its length and its final zero byte.
func textSize(rest []byte) (int, bool) {
	size, ok := prefixedSize(rest, 1, 4)
	return size, ok && rest[size-1] == 0
}

// sharedString returns bytes that never change as a string, without a copy.
func sharedString(text []byte) string {
	return unsafe.String(unsafe.SliceData(text), len(text)) // #nosec G103 -- safe because they never change
}

func appendName(into []byte, kind bson.Type, name string) []byte {
	into = append(append(into, byte(kind)), name...)
	return append(into, 0)
}

// appendInt64 appends a field to a document.
func appendInt64(document bson.Raw, name string, value int64) bson.Raw {
	document = appendName(document[:len(document)-1], bson.TypeInt64, name)
	document = append(binary.LittleEndian.AppendUint64(document, uint64(value)), 0)
	binary.LittleEndian.PutUint32(document, uint32(len(document)))
	return document
}
