package docstore

import (
	"bytes"
	"encoding/binary"
	"errors"
	"unsafe"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"
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
	found, rest, ok := bsoncore.ReadElement(body)
	if !ok {
		return e, nil, false
	}
	end := bytes.IndexByte(found[1:], 0) + 1
	e.kind, e.name, e.value = bson.Type(found[0]), found[1:end], found[end+1:]
	isWhole := e.kind != bson.TypeString || len(e.value) > 4 && e.value[len(e.value)-1] == 0
	return e, rest, isWhole
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
