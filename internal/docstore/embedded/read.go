package embedded

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	bolt "go.etcd.io/bbolt"
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/waybook/waybook/internal/docstore"
)

// checkEvery is how many steps a walk makes between two checks of its context.
const checkEvery = 1024

// Get returns a copy of a document.
func (t *table) Get(ctx context.Context, id any) (bson.Raw, error) {
	key, err := t.idKey(id)
	if err != nil {
		return nil, err
	}
	var document bson.Raw
	err = t.engine.view(ctx, func(tx *bolt.Tx) error {
		found := tx.Bucket(t.documents).Get(key)
		if found == nil {
			return docstore.ErrNotFound
		}
		document = bytes.Clone(found)
		return nil
	})
	return document, err
}

// GetMany looks up the ids in the order of the file.
func (t *table) GetMany(ctx context.Context, ids []any) ([]bson.Raw, error) {
	wanted := make([][]byte, len(ids))
	for i, id := range ids {
		var err error
		if wanted[i], err = t.idKey(id); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(wanted, bytes.Compare)
	wanted = slices.CompactFunc(wanted, bytes.Equal)
	var documents []bson.Raw
	err := t.engine.view(ctx, func(tx *bolt.Tx) error {
		cursor := tx.Bucket(t.documents).Cursor()
		found := make([][]byte, 0, len(wanted))
		size := 0
		for i, key := range wanted {
			if i%checkEvery == checkEvery-1 && ctx.Err() != nil {
				return ctx.Err()
			}
			if id, raw := cursor.Seek(key); bytes.Equal(id, key) {
				found = append(found, raw)
				size += len(raw)
			}
		}
		documents = copyAll(found, size)
		return nil
	})
	return documents, err
}

// Scan seeks to the start position in the index and walks from there. The seek costs the
// same at any position.
func (t *table) Scan(ctx context.Context, scan docstore.Scan) ([]bson.Raw, error) {
	ix, err := t.find(scan.Index)
	if err != nil {
		return nil, err
	}
	fields := t.fields(ix)
	if scan, err = scan.Checked(fields); err != nil {
		return nil, err
	}
	start, err := docstore.AppendValues(make([]byte, 0, 64), fields, scan.Equal)
	if err != nil {
		return nil, err
	}
	prefix, rest := len(start), fields[len(scan.Equal):]
	var last []byte
	if scan.To != nil {
		if last, err = docstore.AppendValues(bytes.Clone(start), rest, []any{scan.To}); err != nil {
			return nil, err
		}
	}
	first := scan.After
	if scan.From != nil {
		first = []any{scan.From}
	}
	if start, err = docstore.AppendValues(start, rest, first); err != nil {
		return nil, err
	}
	var documents []bson.Raw
	err = t.engine.view(ctx, func(tx *bolt.Tx) error {
		w := t.walk(tx, ix, start, prefix)
		w.last = last
		if scan.After != nil {
			w.pass(start)
		}
		var few [32][]byte // enough for most scans, and not on the heap
		found, size := few[:0], 0
		for len(found) < scan.Limit && w.valid() {
			if len(found)%checkEvery == checkEvery-1 && ctx.Err() != nil {
				return ctx.Err()
			}
			raw, err := w.document()
			if err != nil {
				return err
			}
			found = append(found, raw)
			size += len(raw)
			w.next()
		}
		documents = copyAll(found, size)
		t.engine.scanned(tx, len(found), size)
		return nil
	})
	return documents, err
}

// Count walks the index entries without reading documents.
func (t *table) Count(ctx context.Context, name string, equal []any) (int64, error) {
	ix, err := t.find(name)
	if err != nil {
		return 0, err
	}
	start, err := docstore.AppendValues(nil, t.fields(ix), equal)
	if err != nil {
		return 0, err
	}
	var n int64
	err = t.engine.view(ctx, func(tx *bolt.Tx) error {
		for w := t.walk(tx, ix, start, len(start)); w.valid(); w.next() {
			n++
			if n%checkEvery == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	return n, nil
}

func (t *table) fields(ix *index) []docstore.Field {
	if ix == nil {
		return t.id
	}
	return ix.fields
}

// walk iterates over the entries of an index, or over the documents, whose keys begin
// with a prefix.
type walk struct {
	entries *bolt.Cursor
	// documents is nil when the entries are the documents.
	documents *bolt.Cursor
	// placed is true once the documents cursor is at a document.
	placed bool
	prefix []byte
	// last, unless nil, is the prefix of the last keys of the walk.
	last []byte
	// skip are the fields of an index key before _id.
	skip  []docstore.Field
	key   []byte
	value []byte
}

func (t *table) walk(tx *bolt.Tx, ix *index, start []byte, prefix int) *walk {
	w := &walk{prefix: start[:prefix]}
	documents := tx.Bucket(t.documents).Cursor()
	if ix == nil {
		w.entries = documents
	} else {
		w.entries = tx.Bucket(ix.bucket).Cursor()
		w.documents = documents
		w.skip = ix.fields[:len(ix.fields)-1]
	}
	w.key, w.value = w.entries.Seek(start)
	return w
}

func (w *walk) next() { w.key, w.value = w.entries.Next() }

func (w *walk) valid() bool {
	if w.key == nil || !bytes.HasPrefix(w.key, w.prefix) {
		return false
	}
	return w.last == nil || bytes.Compare(w.key, w.last) <= 0 || bytes.HasPrefix(w.key, w.last)
}

// pass skips the entry with the given key if the walk is at it.
func (w *walk) pass(key []byte) {
	if bytes.Equal(w.key, key) {
		w.next()
	}
}

// id returns the encoded id of the current document.
func (w *walk) id() ([]byte, error) {
	return cutFields(w.key, w.skip)
}

// document returns the current document. It points into the mapped file.
func (w *walk) document() ([]byte, error) {
	if w.documents == nil {
		return w.value, nil
	}
	id, err := w.id()
	if err != nil {
		return nil, err
	}
	// Neighbours in the index are often neighbours in the file too. A step to the next
	// document costs a tenth of a search.
	if w.placed {
		if next, raw := w.documents.Next(); bytes.Equal(next, id) {
			return raw, nil
		}
	}
	found, raw := w.documents.Seek(id)
	if !bytes.Equal(found, id) {
		return nil, fmt.Errorf("the store is damaged: index entry %x refers to a missing document", w.key)
	}
	w.placed = true
	return raw, nil
}

// copyAll copies documents from the mapped file into one allocation. size is their total
// size in bytes.
func copyAll(found [][]byte, size int) []bson.Raw {
	arena := make([]byte, 0, size)
	documents := make([]bson.Raw, len(found))
	for i, raw := range found {
		start := len(arena)
		arena = append(arena, raw...)
		documents[i] = arena[start:len(arena):len(arena)]
	}
	return documents
}
