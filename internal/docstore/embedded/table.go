package embedded

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	bolt "go.etcd.io/bbolt"
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/docstore/internal/settling"
	"github.com/waybook/waybook/internal/docstore/keys"
)

// part is the beginning of the keys of the documents of a collection, or of an index: the number
// of the collection, and that of the part.
type part [partBytes]byte

const partBytes = 2

// The parts that each collection has. The numbers of indexes follow.
const (
	documentsPart = iota
	feedPart
	tombstonesPart
	firstIndexPart
)

// key returns the key of what is stored under some bytes.
func (p part) key(own ...byte) []byte {
	return append(append(make([]byte, 0, partBytes+len(own)), p[:]...), own...)
}

// last moves a cursor to the last key of the part, and returns it; nil if there is none.
func (p part) last(cursor *bolt.Cursor) []byte {
	key, _ := seekBefore(cursor, []byte{p[0], p[1] + 1})
	if !bytes.HasPrefix(key, p[:]) {
		return nil
	}
	return key
}

// seekBefore moves a cursor to the last key before another one.
func seekBefore(cursor *bolt.Cursor, end []byte) (key, value []byte) {
	if found, _ := cursor.Seek(end); found == nil {
		return cursor.Last()
	}
	return cursor.Prev()
}

// table is one collection in the file.
type table struct {
	engine *Engine
	spec   docstore.Spec
	// documents has the documents by their ids, feed is described in changes.go, and tombstones in
	// tombstone.go.
	documents, feed, tombstones part
	settled                     *settling.Line
	id                          []docstore.Field
	indexes                     []index
}

// index is one secondary index.
type index struct {
	docstore.Index
	part part
	// fields has _id last.
	fields []docstore.Field
}

// newTable returns a collection with those indexes of found that the spec has.
func newTable(e *Engine, spec docstore.Spec, found declaration) *table {
	number := byte(found.Number)
	t := &table{
		engine: e, spec: spec, id: []docstore.Field{{Name: docstore.IDIndex, Kind: spec.ID}},
		settled:   settling.Begin(e.opened),
		documents: part{number, documentsPart}, feed: part{number, feedPart}, tombstones: part{number, tombstonesPart},
	}
	for _, declared := range spec.Indexes {
		fields, _ := spec.FieldsOf(declared.Name) // declared, so there is no error
		at := slices.IndexFunc(found.Indexes, func(had indexState) bool { return had.Name == declared.Name })
		if at >= 0 {
			t.indexes = append(t.indexes,
				index{Index: declared, part: part{number, byte(found.Indexes[at].Part)}, fields: fields})
		}
	}
	return t
}

// data returns the bucket of all parts in a transaction.
func data(tx *bolt.Tx) *bolt.Bucket {
	bucket := tx.Bucket(dataBucket())
	bucket.FillPercent = dataFill
	return bucket
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

// entry is a key of an index. The bytes up to fields encode the part and the declared fields,
// which are unique in a unique index. The rest is the document's id. A document that is not in the
// index has no key.
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
	key, err := docstore.AppendKey(append(key, ix.part[:]...), ix.fields, document)
	if err != nil {
		return entry{}, fmt.Errorf("index %q: %w", ix.Name, err)
	}
	own := key[start:]
	id, err := ix.idIn(own)
	return entry{key: own, fields: len(own) - len(id)}, err
}

// idIn returns the encoded id in the key of an entry.
func (ix *index) idIn(key []byte) (id []byte, err error) {
	key = key[partBytes:]
	for _, field := range ix.fields[:len(ix.fields)-1] {
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

// prepared is a document with its key and index entries.
type prepared struct {
	record
	key []byte
	// entries are in the order of the table's indexes.
	entries []entry
}

// prepare computes the key and the index entries of a document. It refuses the documents that
// docstore.Spec.CheckDocument refuses.
func (t *table) prepare(document bson.Raw) (prepared, error) {
	if err := docstore.CheckEnvelope(document); err != nil {
		return prepared{}, err
	}
	return t.place(record{bson: document, isTombstone: t.spec.Tombstones && docstore.IsTombstone(document)})
}

// place computes the key and the index entries of a stored document.
func (t *table) place(r record) (prepared, error) {
	arena := make([]byte, 0, 32+64*len(t.indexes)) // for all keys
	key, err := docstore.AppendKey(append(arena, t.documents[:]...), t.id, r.bson)
	if err != nil {
		return prepared{}, err
	}
	p := prepared{record: r, key: key[:len(key):len(key)], entries: make([]entry, len(t.indexes))}
	arena = key[len(key):]
	for i := range t.indexes {
		if t.indexes[i].Omits(r.bson, r.isTombstone) {
			continue
		}
		if p.entries[i], err = t.indexes[i].appendEntry(arena, r.bson); err != nil {
			return prepared{}, err
		}
		p.entries[i].isTombstone = r.isTombstone
		// A key that did not fit into the arena was moved to its own array.
		if n := len(p.entries[i].key); n <= cap(arena) {
			arena = arena[n:n]
		}
	}
	return p, nil
}

// keyOf returns the key of the document with an id that a caller gave.
func (t *table) keyOf(id docstore.Value) ([]byte, error) {
	if id.Kind() != t.spec.ID {
		return nil, fmt.Errorf("collection %q has no id of the kind of %v", t.spec.Name, id)
	}
	return docstore.AppendValues(append(make([]byte, 0, 32), t.documents[:]...), id), nil
}
