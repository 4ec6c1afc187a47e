package embedded

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	bolt "go.etcd.io/bbolt"

	"github.com/waybook/waybook/internal/docstore"
)

// Check reads the whole file and returns the damage that it finds. It finds broken pages,
// documents without an index entry, and index entries without a document. It reads one snapshot of
// the store. Writers continue, but the file grows in the meantime. Errors: *DamageError for pages.
func (e *Engine) Check(ctx context.Context) error {
	return e.view(ctx, func(tx *bolt.Tx) error {
		free, err := checkPages(ctx, e.file, tx)
		if err != nil {
			return err
		}
		e.free.Store(free * int64(tx.DB().Info().PageSize))
		var errs []error
		for _, name := range collectionsIn(tx) {
			if err := e.checkCollection(ctx, tx, name); err != nil {
				errs = append(errs, fmt.Errorf("collection %s: %w", name, err))
			}
		}
		return errors.Join(errs...)
	})
}

func (e *Engine) checkCollection(ctx context.Context, tx *bolt.Tx, name string) error {
	found, err := readDeclaration(tx, name)
	if err != nil {
		return err
	}
	t := newTable(e, found.spec(name), found)
	var errs []error
	if err := t.checkFeed(ctx, tx); err != nil {
		errs = append(errs, fmt.Errorf("feed: %w", err))
	}
	if err := t.checkTombstones(ctx, tx); err != nil {
		errs = append(errs, fmt.Errorf("tombstones: %w", err))
	}
	for i := range t.indexes {
		if !found.Indexes[i].Complete {
			continue
		}
		if err := t.checkIndex(ctx, tx, &t.indexes[i]); err != nil {
			errs = append(errs, fmt.Errorf("index %s: %w", t.indexes[i].Name, err))
		}
	}
	return errors.Join(errs...)
}

// checkIndex checks that each document of an index has its entry and each entry its document. In a
// unique index it also checks that no two entries have equal fields, and that tombstones have
// theirs.
func (t *table) checkIndex(ctx context.Context, tx *bolt.Tx, ix *index) error {
	entries := data(tx).Cursor()
	documents, seen, n := t.walk(tx, nil, docstore.Bounds{WithTombstones: true}), 0, 0
	for ; documents.valid(); documents.next() {
		if seen++; seen%checkEvery == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		r := recordOf(documents.value)
		if ix.Omits(r.bson, r.isTombstone) {
			continue
		}
		n++
		wanted, err := ix.entryOf(r.bson)
		if err != nil {
			return fmt.Errorf("document %x: %w", documents.key, err)
		}
		if !bytes.HasSuffix(wanted.key, documents.key[partBytes:]) {
			return fmt.Errorf("document %x contains another _id, %x", documents.key, wanted.key[wanted.fields:])
		}
		if key, _ := entries.Seek(wanted.key); !bytes.Equal(key, wanted.key) {
			return fmt.Errorf("document %x has no entry", documents.key)
		}
	}
	var last []byte
	for w := t.walk(tx, ix, docstore.Bounds{WithTombstones: true}); w.valid(); w.next() {
		if n--; n%checkEvery == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		found, err := w.document()
		if err != nil {
			return err
		}
		wanted, err := ix.entryOf(found.bson)
		if err != nil {
			return fmt.Errorf("entry %x: %w", w.key, err)
		}
		if !bytes.Equal(wanted.key, w.key) || found.isTombstone != (len(w.value) > 0) {
			return fmt.Errorf("entry %x should be %x", w.key, wanted.key)
		}
		if ix.Unique && bytes.Equal(last, w.key[:wanted.fields]) {
			return fmt.Errorf("entry %x is a duplicate", w.key)
		}
		last = w.key[:wanted.fields]
	}
	if n != 0 {
		return fmt.Errorf("the collection has %d more documents than the index has entries", n)
	}
	return nil
}

// checkFeed checks that each document and each tombstone has its entry, and that the feed has no
// others.
func (t *table) checkFeed(ctx context.Context, tx *bolt.Tx) error {
	_, hasFeed, err := readFeedState(tx, t.spec.Name)
	if err != nil || !hasFeed {
		return err
	}
	return t.checkEntries(ctx, tx, t.feed, func(r record) (at docstore.Moment, isIn bool) { return r.changed, true })
}

// checkTombstones checks that each tombstone has its entry, and that there are no others.
func (t *table) checkTombstones(ctx context.Context, tx *bolt.Tx) error {
	return t.checkEntries(ctx, tx, t.tombstones,
		func(r record) (at docstore.Moment, isIn bool) { return r.due, r.isTombstone })
}

// checkEntries checks that a part has an entry at a moment for each document that is in it, and no
// others.
func (t *table) checkEntries(ctx context.Context, tx *bolt.Tx, of part,
	place func(record) (at docstore.Moment, isIn bool)) error {
	n, seen, entries := 0, 0, data(tx).Cursor()
	for w := t.walk(tx, nil, docstore.Bounds{WithTombstones: true}); w.valid(); w.next() {
		if seen++; seen%checkEvery == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		at, isIn := place(recordOf(w.value))
		if !isIn {
			continue
		}
		n++
		wanted := of.at(at, w.key)
		if key, _ := entries.Seek(wanted); !bytes.Equal(key, wanted) {
			return fmt.Errorf("document %x has no entry", w.key)
		}
	}
	for key, _ := entries.Seek(of[:]); bytes.HasPrefix(key, of[:]); key, _ = entries.Next() {
		n--
	}
	if n != 0 {
		return fmt.Errorf("there are %d more documents than entries", n)
	}
	return nil
}
