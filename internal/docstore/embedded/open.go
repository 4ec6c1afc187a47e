package embedded

import (
	"bytes"
	"context"
	"fmt"
	"reflect"
	"slices"

	bolt "go.etcd.io/bbolt"

	"github.com/waybook/waybook/internal/docstore"
)

// An index is built in chunks of one transaction each. These limits bound a chunk, and
// with it the time that other writers wait.
const (
	buildChunkDocuments = 10_000
	buildChunkBytes     = 32 << 20
)

// Open creates the collection and its indexes where they are missing, and returns the
// collection. A new index is built in several transactions, and the last one marks it as
// complete. So an index that a crash left incomplete is built again.
func (e *Engine) Open(ctx context.Context, spec docstore.Spec) (docstore.Table, error) {
	if err := spec.Validate(); err != nil {
		return nil, err
	}
	select {
	case e.opening <- struct{}{}:
		defer func() { <-e.opening }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if open := e.tables[spec.Name]; open != nil {
		if !reflect.DeepEqual(open.spec, spec) {
			return nil, fmt.Errorf("collection %q is already open with another declaration", spec.Name)
		}
		return open, e.enterOnce(ctx)
	}
	var found declaration
	err := e.view(ctx, func(tx *bolt.Tx) (err error) {
		found, err = readDeclaration(tx, spec.Name)
		return err
	})
	if err != nil {
		return nil, err
	}
	t, err := e.reconcile(ctx, spec, found)
	if err != nil {
		return nil, err
	}
	if spec.Feed != nil {
		if err := t.openFeed(ctx); err != nil {
			return nil, fmt.Errorf("open the feed of %s: %w", spec.Name, err)
		}
	}
	e.tables[spec.Name] = t
	return t, nil
}

// enterOnce returns the error that any call would return now, or nil.
func (e *Engine) enterOnce(ctx context.Context) error {
	return e.view(ctx, func(*bolt.Tx) error { return nil })
}

// reconcile changes a collection in the file from the found declaration to the one of a spec. An
// index is incomplete while its entries are removed, and until it has those of all documents.
func (e *Engine) reconcile(ctx context.Context, spec docstore.Spec, found declaration) (*table, error) {
	if err := found.checkID(spec); err != nil {
		return nil, err
	}
	wanted := declaration{ID: spec.ID, Number: found.Number}
	var stale []indexState
	for _, had := range found.Indexes {
		if slices.ContainsFunc(spec.Indexes,
			func(index docstore.Index) bool { return state(spec, index).equal(had) }) {
			wanted.Indexes = append(wanted.Indexes, had)
		} else {
			had.Complete = false
			stale = append(stale, had)
		}
	}
	if err := e.drop(ctx, spec.Name, wanted, stale); err != nil {
		return nil, fmt.Errorf("drop indexes: %w", err)
	}
	isNew := found.ID == 0
	var missing []int
	for _, index := range spec.Indexes {
		if slices.ContainsFunc(wanted.Indexes, state(spec, index).equal) {
			continue
		}
		added, err := state(spec, index), error(nil)
		added.Complete = isNew // there are no documents
		if added.Part, err = wanted.newPart(); err != nil {
			return nil, err
		}
		missing = append(missing, len(wanted.Indexes))
		wanted.Indexes = append(wanted.Indexes, added)
	}
	if isNew || len(missing) > 0 || len(wanted.Indexes) != len(found.Indexes) {
		err := e.write(ctx, 0, func(tx *bolt.Tx) (_ bool, err error) {
			if isNew {
				if wanted.Number, err = nextNumber(tx); err != nil {
					return false, err
				}
			}
			return true, writeDeclaration(tx, spec.Name, wanted)
		})
		if err != nil {
			return nil, err
		}
	}
	t := newTable(e, spec, wanted)
	for _, i := range missing {
		if isNew {
			break
		}
		wanted.Indexes[i].Complete = true
		if err := t.build(ctx, wanted.Indexes[i].Name, wanted); err != nil {
			return nil, fmt.Errorf("build index %q: %w", wanted.Indexes[i].Name, err)
		}
	}
	return t, nil
}

// drop removes the entries of stale indexes, which are incomplete and not in kept, in several
// transactions.
func (e *Engine) drop(ctx context.Context, collection string, kept declaration, stale []indexState) error {
	if len(stale) == 0 {
		return nil
	}
	both := kept
	both.Indexes = slices.Concat(kept.Indexes, stale)
	err := e.write(ctx, 0, func(tx *bolt.Tx) (bool, error) { return true, writeDeclaration(tx, collection, both) })
	for i := 0; i < len(stale) && err == nil; {
		entries := part{byte(kept.Number), byte(stale[i].Part)}
		isEmpty := false
		err = e.write(ctx, buildChunkBytes, func(tx *bolt.Tx) (changed bool, err error) {
			var doomed [][]byte
			all := data(tx)
			cursor := all.Cursor()
			for key, _ := cursor.Seek(entries[:]); bytes.HasPrefix(key, entries[:]) &&
				len(doomed) < buildChunkDocuments; key, _ = cursor.Next() {
				doomed = append(doomed, key)
			}
			for _, key := range doomed {
				if err := all.Delete(key); err != nil {
					return true, err
				}
			}
			isEmpty = len(doomed) < buildChunkDocuments
			return len(doomed) > 0, nil
		})
		if isEmpty {
			i++
		}
	}
	return err
}

// build fills an empty index from the documents. They do not change in the meantime,
// because no table of this collection is open yet.
func (t *table) build(ctx context.Context, name string, complete declaration) error {
	ix, err := t.find(name)
	if err != nil {
		return err
	}
	next := t.documents[:]
	for {
		var resume []byte
		err := t.engine.write(ctx, buildChunkBytes, func(tx *bolt.Tx) (bool, error) {
			entries, from, err := t.chunkOf(ix, tx, next)
			if err != nil {
				return false, err
			}
			resume = from
			if err := ix.fill(data(tx), entries); err != nil {
				return false, err
			}
			if resume == nil {
				return true, writeDeclaration(tx, t.spec.Name, complete)
			}
			return true, nil
		})
		if err != nil || resume == nil {
			return err
		}
		next = resume
	}
}

// fill adds entries in sorted order, so that neighbours are written to the same page.
func (ix *index) fill(all *bolt.Bucket, entries []entry) error {
	slices.SortFunc(entries, func(a, b entry) int { return bytes.Compare(a.key, b.key) })
	cursor := all.Cursor()
	for _, added := range entries {
		if ix.Unique && added.taken(cursor) {
			return &docstore.DuplicateError{Index: ix.Name}
		}
		if err := all.Put(added.key, added.value()); err != nil {
			return err
		}
	}
	return nil
}

// chunkOf returns index entries for the documents that start at a key, up to the limits of
// a chunk. resume is the key of the next document, or nil at the end.
func (t *table) chunkOf(ix *index, tx *bolt.Tx, from []byte) (entries []entry, resume []byte, err error) {
	cursor := data(tx).Cursor()
	size := 0
	for key, raw := cursor.Seek(from); bytes.HasPrefix(key, t.documents[:]); key, raw = cursor.Next() {
		if len(entries) == buildChunkDocuments || size > buildChunkBytes {
			return entries, bytes.Clone(key), nil
		}
		r := recordOf(raw)
		if ix.Omits(r.bson, r.isTombstone) {
			continue
		}
		added, err := ix.entryOf(r.bson)
		if err != nil {
			return nil, nil, err
		}
		added.isTombstone = r.isTombstone
		entries = append(entries, added)
		size += len(raw)
	}
	return entries, nil, nil
}
