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
	t := newTable(e, spec)
	if err := t.reconcile(ctx, found); err != nil {
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

// Backfill does nothing: an index has each document under the default of a field that it
// lacks.
func (e *Engine) Backfill(ctx context.Context) (int64, error) { return 0, e.enterOnce(ctx) }

// enterOnce returns the error that any call would return now, or nil.
func (e *Engine) enterOnce(ctx context.Context) error {
	return e.view(ctx, func(*bolt.Tx) error { return nil })
}

// reconcile changes the collection in the file from the found declaration to the one in
// t.spec.
func (t *table) reconcile(ctx context.Context, found declaration) error {
	if err := found.checkID(t.spec); err != nil {
		return err
	}
	wanted := declaration{ID: t.spec.ID}
	var missing []int
	for i, index := range t.spec.Indexes {
		complete := state(t.spec, index)
		if !slices.ContainsFunc(found.Indexes, complete.equal) {
			missing = append(missing, i)
			complete.Complete = false
		}
		wanted.Indexes = append(wanted.Indexes, complete)
	}
	stale := slices.DeleteFunc(slices.Clone(found.Indexes), func(had indexState) bool {
		return slices.ContainsFunc(wanted.Indexes, had.equal) && had.Complete
	})
	if found.ID != 0 && len(missing) == 0 && len(stale) == 0 {
		return nil
	}
	create := missing
	if found.ID == 0 {
		// There are no documents, so an empty index is complete.
		for _, i := range missing {
			wanted.Indexes[i].Complete = true
		}
		missing = nil
	}
	err := t.engine.write(ctx, 0, func(tx *bolt.Tx) (bool, error) {
		for _, had := range stale {
			if err := tx.DeleteBucket(indexBucket(t.spec.Name, had.Name)); err != nil {
				return false, fmt.Errorf("drop index %q: %w", had.Name, err)
			}
		}
		if _, err := tx.CreateBucketIfNotExists(t.documents); err != nil {
			return false, err
		}
		for _, i := range create {
			if _, err := tx.CreateBucket(t.indexes[i].bucket); err != nil {
				return false, err
			}
		}
		return true, writeDeclaration(tx, t.spec.Name, wanted)
	})
	if err != nil {
		return err
	}
	for _, i := range missing {
		wanted.Indexes[i].Complete = true
		if err := t.build(ctx, &t.indexes[i], wanted); err != nil {
			return fmt.Errorf("build index %q: %w", t.spec.Indexes[i].Name, err)
		}
	}
	return nil
}

// build fills an empty index from the documents. They do not change in the meantime,
// because no table of this collection is open yet.
func (t *table) build(ctx context.Context, ix *index, complete declaration) error {
	var next []byte
	for {
		var resume []byte
		err := t.engine.write(ctx, buildChunkBytes, func(tx *bolt.Tx) (bool, error) {
			entries, from, err := ix.chunk(tx.Bucket(t.documents), next)
			if err != nil {
				return false, err
			}
			resume = from
			if err := ix.fill(tx.Bucket(ix.bucket), entries); err != nil {
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
func (ix *index) fill(bucket *bolt.Bucket, entries []entry) error {
	slices.SortFunc(entries, func(a, b entry) int { return bytes.Compare(a.key, b.key) })
	cursor := bucket.Cursor()
	for _, added := range entries {
		if ix.Unique && added.taken(cursor) {
			return &docstore.DuplicateError{Index: ix.Name}
		}
		if err := bucket.Put(added.key, added.value()); err != nil {
			return err
		}
	}
	return nil
}

// chunk returns index entries for the documents that start at from, up to the limits of
// a chunk. resume is the key of the next document, or nil at the end.
func (ix *index) chunk(documents *bolt.Bucket, from []byte) (entries []entry, resume []byte, err error) {
	cursor := documents.Cursor()
	size := 0
	for id, raw := cursor.Seek(from); id != nil; id, raw = cursor.Next() {
		if len(entries) == buildChunkDocuments || size > buildChunkBytes {
			return entries, bytes.Clone(id), nil
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
