package embedded

import (
	"bytes"
	"errors"
	"fmt"

	bolt "go.etcd.io/bbolt"
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/docstore/internal/settling"
	"github.com/waybook/waybook/internal/docstore/keys"
)

// table is one collection in the file.
type table struct {
	engine    *Engine
	spec      docstore.Spec
	documents []byte
	// feed is the bucket of the feed; see changes.go.
	feed    []byte
	settled *settling.Line
	id      []docstore.Field
	indexes []index
}

// index is one secondary index.
type index struct {
	docstore.Index
	bucket []byte
	// fields has _id last.
	fields []docstore.Field
}

func newTable(e *Engine, spec docstore.Spec) *table {
	id := []docstore.Field{{Name: "_id", Kind: spec.ID}}
	t := &table{
		engine: e, spec: spec, documents: documentsBucket(spec.Name), feed: feedBucket(spec.Name), id: id,
		settled: settling.Begin(e.opened),
	}
	for _, declared := range spec.Indexes {
		fields, _ := spec.FieldsOf(declared.Name) // declared, so there is no error
		t.indexes = append(t.indexes, index{
			Index:  declared,
			bucket: indexBucket(spec.Name, declared.Name),
			fields: fields,
		})
	}
	return t
}

// find returns the index with the given name. It returns nil for the index of _id.
func (t *table) find(name string) (*index, error) {
	if name == docstore.IDIndex {
		return nil, nil
	}
	for i := range t.indexes {
		if t.indexes[i].Name == name {
			return &t.indexes[i], nil
		}
	}
	return nil, fmt.Errorf("collection %q declares no index %q", t.spec.Name, name)
}

// entry is a key of an index. The bytes up to fields encode the declared fields, which
// are unique in a unique index. The rest is the document's id. A document that is not in the index has
// no key.
type entry struct {
	key    []byte
	fields int
	// isTombstone: the entry is that of a tombstone. Only unique indexes have such.
	isTombstone bool
}

// value is what is stored with the key.
func (n entry) value() []byte {
	if n.isTombstone {
		return []byte{tombstoneMark}
	}
	return nil
}

func (n entry) deleteFrom(bucket *bolt.Bucket) error {
	if n.key == nil {
		return nil
	}
	return bucket.Delete(n.key)
}

// tombstoneMark is the value of the entries of tombstones.
const tombstoneMark = 1

// taken reports whether another document has the entry's fields. A document has one entry
// per index. So taken would find the document's own entry only if its fields do not
// change, and callers skip that case.
func (n entry) taken(cursor *bolt.Cursor) bool {
	found, _ := cursor.Seek(n.key[:n.fields])
	return bytes.HasPrefix(found, n.key[:n.fields])
}

func (ix *index) entryOf(document bson.Raw) (entry, error) {
	return ix.appendEntry(make([]byte, 0, 64), document)
}

// appendEntry builds the entry in the unused capacity of key.
func (ix *index) appendEntry(key []byte, document bson.Raw) (entry, error) {
	start := len(key)
	key, err := docstore.AppendKey(key, ix.fields, document)
	if err != nil {
		return entry{}, fmt.Errorf("index %q: %w", ix.Name, err)
	}
	own := key[start:]
	id, err := cutFields(own, ix.fields[:len(ix.fields)-1])
	return entry{key: own, fields: len(own) - len(id)}, err
}

// cutFields returns the rest of a key after the given fields.
func cutFields(key []byte, fields []docstore.Field) (rest []byte, err error) {
	for _, field := range fields {
		if field.Kind == docstore.String {
			if key, err = keys.SkipString(key); err != nil {
				return nil, err
			}
			continue
		}
		if len(key) < 8 {
			return nil, errors.New("index key is too short")
		}
		key = key[8:]
	}
	return key, nil
}

// prepared is a document with its encoded id and index entries.
type prepared struct {
	record
	id []byte
	// entries are in the order of the table's indexes.
	entries []entry
}

// prepare computes the id and the index entries of a document. It refuses the documents that
// docstore.Spec.CheckDocument refuses.
func (t *table) prepare(document bson.Raw) (prepared, error) {
	if err := docstore.CheckEnvelope(document); err != nil {
		return prepared{}, err
	}
	return t.place(record{bson: document, isTombstone: t.spec.Tombstones && docstore.IsTombstone(document)})
}

// place computes the id and the index entries of a stored document.
func (t *table) place(r record) (prepared, error) {
	arena := make([]byte, 0, 32+64*len(t.indexes))
	id, err := docstore.AppendKey(arena, t.id, r.bson)
	if err != nil {
		return prepared{}, err
	}
	p := prepared{record: r, id: id, entries: make([]entry, len(t.indexes))}
	arena = id
	for i := range t.indexes {
		if t.indexes[i].Omits(r.bson, r.isTombstone) {
			continue
		}
		if p.entries[i], err = t.indexes[i].appendEntry(arena, r.bson); err != nil {
			return prepared{}, err
		}
		p.entries[i].isTombstone = r.isTombstone
		// An entry that did not fit into the arena was moved to its own array.
		if end := len(arena) + len(p.entries[i].key); end <= cap(arena) {
			arena = arena[:end]
		}
	}
	return p, nil
}

// idKey encodes an id given by a caller.
func (t *table) idKey(id docstore.Value) ([]byte, error) {
	if id.Kind() != t.spec.ID {
		return nil, fmt.Errorf("collection %q has no id of the kind of %v", t.spec.Name, id)
	}
	return docstore.AppendValues(make([]byte, 0, 32), id), nil
}
