package docstore

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"strings"
	"unicode/utf8"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/waybook/waybook/internal/docstore/keys"
)

// IDIndex names the index of the _id field, which every collection has.
const IDIndex = "_id"

// Kind is the type of an indexed field, the same in every document of a collection.
type Kind int

// The kinds of an indexed field. Int64 sorts by value; a stored integer may have 32 bits, except
// in _id. String is valid UTF-8 and sorts by its bytes, independent of language.
const (
	Int64 Kind = iota + 1
	String
)

// Key is a type of indexed fields and ids.
type Key interface{ int64 | string }

// Value is the value of an indexed field or an id. The zero Value is none.
type Value struct {
	kind   Kind
	number int64
	text   string
}

// ValueOf returns a key as a Value.
func ValueOf[K Key](key K) Value {
	switch key := any(key).(type) {
	case int64:
		return Value{kind: Int64, number: key}
	case string:
		return Value{kind: String, text: key}
	}
	return Value{}
}

// Kind returns the value's kind; 0 if there is no value.
func (v Value) Kind() Kind { return v.kind }

// IsNone reports whether there is no value.
func (v Value) IsNone() bool { return v.kind == 0 }

// Int64 returns the integer of a value of kind Int64.
func (v Value) Int64() int64 { return v.number }

// Text returns the string of a value of kind String.
func (v Value) Text() string { return v.text }

// BSON returns the value as an int64 or a string, or nil if there is none.
func (v Value) BSON() any {
	switch v.kind {
	case Int64:
		return v.number
	case String:
		return v.text
	}
	return nil
}

// Compare orders values of the same kind.
func (v Value) Compare(other Value) int {
	return cmp.Or(cmp.Compare(v.kind, other.kind), cmp.Compare(v.number, other.number),
		cmp.Compare(v.text, other.text))
}

// String formats the value for messages.
func (v Value) String() string {
	if v.kind == String {
		return fmt.Sprintf("%q", v.text)
	}
	return fmt.Sprint(v.BSON())
}

// Field is an indexed field of a document.
type Field struct {
	Name string
	Kind Kind
}

// Value returns the field's value in a document.
func (f Field) Value(document bson.Raw) (Value, error) {
	value, err := f.sharedValue(document)
	value.text = strings.Clone(value.text)
	return value, err
}

// sharedValue is Value, and a text is a part of the document.
func (f Field) sharedValue(document bson.Raw) (Value, error) {
	body, ok := elementsOf(document)
	if !ok {
		return Value{}, errMalformed
	}
	found, ok := lookup(body, f.Name)
	switch {
	case !ok:
		return Value{}, fmt.Errorf("docstore: field %q is missing", f.Name)
	case found.kind == bson.TypeInt64 && f.Kind == Int64:
		return Value{kind: Int64, number: int64(binary.LittleEndian.Uint64(found.value))}, nil
	case found.kind == bson.TypeInt32 && f.Kind == Int64 && f.Name != IDIndex:
		return Value{kind: Int64, number: int64(int32(binary.LittleEndian.Uint32(found.value)))}, nil
	case found.kind == bson.TypeString && f.Kind == String:
		return Value{kind: String, text: sharedString(found.value[4 : len(found.value)-1])}, nil
	}
	return Value{}, fmt.Errorf("docstore: field %q has the wrong BSON type %s", f.Name, found.kind)
}

// ValuesOf returns keys as Values.
func ValuesOf[K Key](keys []K) []Value {
	values := make([]Value, len(keys))
	for i, key := range keys {
		values[i] = ValueOf(key)
	}
	return values
}

// MaxKeyBytes bounds the total bytes of the strings in one index key, that is in its
// fields and _id. Insert and Update refuse a longer key with a plain error.
const MaxKeyBytes = 1024

// AppendKey appends the values that a document has in the given fields, in the
// order-preserving encoding of package keys.
func AppendKey(key []byte, fields []Field, document bson.Raw) ([]byte, error) {
	text := 0
	for _, field := range fields {
		value, err := field.sharedValue(document)
		if err != nil {
			return key, err
		}
		if !utf8.ValidString(value.text) {
			return key, fmt.Errorf("docstore: field %q is not valid UTF-8", field.Name)
		}
		if text += len(value.text); text > MaxKeyBytes {
			return key, fmt.Errorf("docstore: index key has more than %d string bytes at field %q", MaxKeyBytes,
				field.Name)
		}
		key = value.append(key)
	}
	return key, nil
}

// AppendValues appends values in the encoding of AppendKey.
func AppendValues(key []byte, values ...Value) []byte {
	for _, value := range values {
		key = value.append(key)
	}
	return key
}

func (v Value) append(key []byte) []byte {
	if v.kind == Int64 {
		return keys.AppendInt64(key, v.number)
	}
	return keys.AppendString(key, v.text)
}

func (v Value) appendField(into []byte, name string) []byte {
	if v.kind == Int64 {
		return binary.LittleEndian.AppendUint64(appendName(into, bson.TypeInt64, name), uint64(v.number))
	}
	into = binary.LittleEndian.AppendUint32(appendName(into, bson.TypeString, name), uint32(len(v.text)+1))
	return append(append(into, v.text...), 0)
}
