package embedded

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	bolt "go.etcd.io/bbolt"
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/waybook/waybook/internal/docstore"
)

// A long text of a document is stored in a bucket of its own, by the document's id and the
// field's name. So a change of another field, such as a counter, does not write the text
// again. In the document, a reference stands for it: a binary with the type and the size of
// the value. A document with references ends with one more byte.
//
// Only top-level strings are stored apart. Indexed fields are shorter, so they are always in
// the document.
const (
	// apartBytes is the size from which a value is stored apart.
	apartBytes = 2 << 10
	// referenceSubtype is the subtype of a reference.
	referenceSubtype = 0x80
	// referencesMark is the byte at the end of a document with references.
	referencesMark = 1
	// referenceBytes is the size of a reference's content: the type and the size of the value.
	referenceBytes = 5
)

// reference stands for a value that is stored apart.
type reference struct {
	kind bson.Type
	size int
}

// referenceOf returns the reference that an element of a document with references is.
func referenceOf(value bson.RawValue) (reference, bool) {
	subtype, content, ok := value.BinaryOK()
	if !ok || subtype != referenceSubtype || len(content) != referenceBytes {
		return reference{}, false
	}
	return reference{bson.Type(content[0]), int(binary.LittleEndian.Uint32(content[1:]))}, true
}

func (s reference) appendTo(into []byte, name string) []byte {
	into = append(append(append(into, byte(bson.TypeBinary)), name...), 0)
	into = binary.LittleEndian.AppendUint32(into, referenceBytes)
	into = append(into, referenceSubtype, byte(s.kind))
	return binary.LittleEndian.AppendUint32(into, uint32(s.size))
}

// record is a document as it is stored.
type record struct {
	// bson is the document, with references if hasReferences is true.
	bson          bson.Raw
	hasReferences bool
	// changed and made are the moments of the latest change and of the insert; 0 if the document is
	// not stamped. They follow the document.
	changed, made docstore.Moment
	// due is when a sweep has something to do for a tombstone, which has all three moments.
	isTombstone bool
	due         docstore.Moment
}

// stampBytes is the size of the two moments of a stored document, tombstoneBytes that of the three of a
// tombstone.
const stampBytes, tombstoneBytes = 16, 24

func recordOf(stored []byte) record {
	if len(stored) < 4 {
		return record{bson: stored}
	}
	n := int(binary.LittleEndian.Uint32(stored))
	r := record{bson: stored}
	switch len(stored) - n {
	case 1:
		r.bson, r.hasReferences = stored[:n], true
	case stampBytes, stampBytes + 1:
		r.bson, r.hasReferences = stored[:n], len(stored)-n > stampBytes
		r.changed = docstore.Moment(binary.BigEndian.Uint64(stored[n:]))
		r.made = docstore.Moment(binary.BigEndian.Uint64(stored[n+8:]))
	case tombstoneBytes:
		r.bson, r.isTombstone = stored[:n], true
		r.changed = docstore.Moment(binary.BigEndian.Uint64(stored[n:]))
		r.made = docstore.Moment(binary.BigEndian.Uint64(stored[n+8:]))
		r.due = docstore.Moment(binary.BigEndian.Uint64(stored[n+16:]))
	}
	return r
}

// stored returns the bytes to store.
func (r record) stored() []byte {
	if !r.hasReferences && r.changed == 0 {
		return r.bson
	}
	into := make([]byte, 0, len(r.bson)+tombstoneBytes)
	into = append(into, r.bson...)
	if r.changed != 0 {
		into = binary.BigEndian.AppendUint64(into, uint64(r.changed))
		into = binary.BigEndian.AppendUint64(into, uint64(r.made))
	}
	if r.isTombstone {
		into = binary.BigEndian.AppendUint64(into, uint64(r.due))
	}
	if r.hasReferences {
		into = append(into, referencesMark)
	}
	return into
}

// eachReference calls visit for each reference of the record, until it returns an error.
func (r record) eachReference(visit func(name string, s reference) error) error {
	if !r.hasReferences {
		return nil
	}
	elements, err := r.bson.Elements()
	if err != nil {
		return err
	}
	for _, element := range elements {
		if s, is := referenceOf(element.Value()); is {
			if err := visit(element.Key(), s); err != nil {
				return err
			}
		}
	}
	return nil
}

// size is the size of the whole document.
func (r record) size() int {
	size := len(r.bson)
	_ = r.eachReference(func(_ string, s reference) error {
		size += s.size - referenceBytes - 1 - 4 // a binary has a length and a subtype
		return nil
	})
	return size
}

// apart is a value to be stored apart.
type apart struct {
	name  string
	value []byte
}

// errReserved refuses a value that would look like a reference.
var errReserved = fmt.Errorf("a binary of %d bytes with subtype %#x is reserved", referenceBytes, referenceSubtype)

// separate takes the long texts out of a document. had reports whether it has references
// already; those stay.
func separate(document bson.Raw, had bool) (record, []apart, error) {
	if len(document) < apartBytes {
		return record{bson: document, hasReferences: had}, nil, nil
	}
	elements, err := document.Elements()
	if err != nil {
		return record{}, nil, err
	}
	var out []apart
	var rest []byte
	from, at := 4, 4
	for _, element := range elements {
		value := element.Value()
		if _, is := referenceOf(value); is && !had {
			return record{}, nil, errReserved
		}
		if value.Type == bson.TypeString && len(value.Value) >= apartBytes {
			if rest == nil {
				rest = make([]byte, 4, 512)
			}
			rest = append(rest, document[from:at]...)
			rest = reference{value.Type, len(value.Value)}.appendTo(rest, element.Key())
			out = append(out, apart{element.Key(), value.Value})
			from = at + len(element)
		}
		at += len(element)
	}
	if rest == nil {
		return record{bson: document, hasReferences: had}, nil, nil
	}
	rest = append(rest, document[from:]...)
	binary.LittleEndian.PutUint32(rest, uint32(len(rest)))
	return record{bson: rest, hasReferences: true}, out, nil
}

// refuse returns docstore.ErrConflict if a document has all values of change.IfNew, long ones included.
func (t *table) refuse(tx *bolt.Tx, id []byte, r record, change docstore.Change) error {
	if len(change.IfNew) == 0 || !r.hasReferences {
		return nil // Apply looks at it
	}
	whole, err := t.whole(tx, id, r, change.IfNew)
	if err == nil && !change.IsNewTo(whole) {
		err = docstore.ErrConflict
	}
	return err
}

// whole returns a copy of a document with its long values. Unless fields is nil, those of
// other fields are left out.
func (t *table) whole(tx *bolt.Tx, id []byte, r record, fields []string) (bson.Raw, error) {
	if !r.hasReferences {
		return bytes.Clone(r.bson), nil
	}
	elements, err := r.bson.Elements()
	if err != nil {
		return nil, err
	}
	values := tx.Bucket(t.apart)
	if values == nil {
		return nil, fmt.Errorf("the store is damaged: document %x has lost its long values", id)
	}
	into := make([]byte, 4, len(r.bson))
	if fields == nil {
		into = make([]byte, 4, r.size())
	}
	for _, element := range elements {
		s, is := referenceOf(element.Value())
		if !is {
			into = append(into, element...)
			continue
		}
		name := element.Key()
		if fields != nil && !slices.Contains(fields, name) {
			continue
		}
		value := values.Get(apartKey(id, name))
		if len(value) != s.size {
			return nil, fmt.Errorf("the store is damaged: field %q of document %x has lost its value", name, id)
		}
		into = append(append(append(into, byte(s.kind)), name...), 0)
		into = append(into, value...)
	}
	into = append(into, 0)
	binary.LittleEndian.PutUint32(into, uint32(len(into)))
	return into, nil
}

func apartKey(id []byte, field string) []byte { return append(id[:len(id):len(id)], field...) }

// putApart stores the long values of a document, and removes those that it had before and
// has no longer.
func (b buckets) putApart(id []byte, before, now record, values []apart) error {
	if !before.hasReferences && len(values) == 0 {
		return nil
	}
	bucket, err := b.tx.CreateBucketIfNotExists(b.table.apart)
	if err != nil {
		return err
	}
	kept := map[string]bool{}
	if err := now.eachReference(func(name string, _ reference) error { kept[name] = true; return nil }); err != nil {
		return err
	}
	err = before.eachReference(func(name string, _ reference) error {
		if kept[name] {
			return nil
		}
		return bucket.Delete(apartKey(id, name))
	})
	if err != nil {
		return err
	}
	for _, each := range values {
		if err := bucket.Put(apartKey(id, each.name), each.value); err != nil {
			return err
		}
	}
	return nil
}

// checkApart checks that each reference has its value, and that there are no other values.
func (t *table) checkApart(ctx context.Context, tx *bolt.Tx) error {
	references, n := 0, 0
	values := tx.Bucket(t.apart)
	for w := t.walk(tx, nil, docstore.Bounds{}); w.valid(); w.next() {
		if n++; n%checkEvery == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		err := recordOf(w.value).eachReference(func(name string, s reference) error {
			references++
			if values == nil || len(values.Get(apartKey(w.key, name))) != s.size {
				return fmt.Errorf("field %q of document %x has lost its value", name, w.key)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	if values == nil {
		return nil
	}
	cursor := values.Cursor()
	for key, _ := cursor.First(); key != nil; key, _ = cursor.Next() {
		references--
	}
	if references != 0 {
		return errors.New("there are long values without a document")
	}
	return nil
}
