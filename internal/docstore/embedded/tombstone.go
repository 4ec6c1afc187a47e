package embedded

import (
	"bytes"
	"context"
	"fmt"

	bolt "go.etcd.io/bbolt"

	"github.com/waybook/waybook/internal/docstore"
)

// A tombstone is stored in the place of its document, with one more moment behind it: when it is
// due. A part of the collection has an entry for each of them: the moment and the encoded _id →
// nothing.

// setDue makes a tombstone due at a moment.
func (w writer) setDue(key []byte, r *record, due docstore.Moment) error {
	if err := w.data.Delete(w.table.tombstones.at(r.due, key)); err != nil {
		return err
	}
	r.due = due
	return w.data.Put(w.table.tombstones.at(due, key), nil)
}

// Tombstones reads between two commits, so what it returns is durable.
func (t *table) Tombstones(ctx context.Context, after docstore.Moment,
	limit int) ([]docstore.Tombstone, docstore.Moment, error) {
	if err := t.spec.CheckTombstones(); err != nil {
		return nil, 0, err
	}
	var due []docstore.Tombstone
	var now docstore.Moment
	err := t.engine.write(ctx, 0, func(tx *bolt.Tx) (bool, error) {
		due, now = nil, t.engine.commit.moments.current()
		all := data(tx)
		entries := all.Cursor()
		for key, _ := entries.Seek(t.tombstones.at(after+1, nil)); bytes.HasPrefix(key, t.tombstones[:]) &&
			len(due) < limit; key, _ = entries.Next() {
			entry, document, err := t.entryOf(key)
			if err != nil || entry.At > now {
				return false, err
			}
			r := recordOf(all.Get(document))
			if !r.isTombstone {
				return false, fmt.Errorf("the store is damaged: entry %x refers to no tombstone", key)
			}
			due = append(due, docstore.Tombstone{ID: entry.ID, At: r.changed, Due: entry.At,
				IsClear: stateOf(r) == docstore.Gone})
		}
		return false, nil
	})
	if err != nil {
		return nil, 0, err
	}
	return due, now, nil
}

func stateOf(r record) int64 { return r.bson.Lookup(docstore.GoneField).AsInt64() }

// Postpone makes a tombstone clear. The feed does not show it again.
func (t *table) Postpone(ctx context.Context, tombstone docstore.Tombstone, until docstore.Moment) error {
	return t.tend(ctx, tombstone, func(w writer, key []byte, r record) error {
		cleared, err := docstore.Cleared(r.bson)
		if err != nil {
			return err
		}
		r.bson = cleared
		if err := w.setDue(key, &r, until); err != nil {
			return err
		}
		return w.data.Put(key, r.stored())
	})
}

// Forget removes a tombstone.
func (t *table) Forget(ctx context.Context, tombstone docstore.Tombstone) error {
	return t.tend(ctx, tombstone, func(w writer, key []byte, r record) error {
		p, err := t.place(r)
		if err != nil {
			return err
		}
		if err := w.data.Delete(t.tombstones.at(r.due, key)); err != nil {
			return err
		}
		if err := w.remove(p); err != nil || t.spec.Feed == nil {
			return err
		}
		state, _, err := readFeedState(w.data.Tx(), t.spec.Name)
		if err != nil {
			return err
		}
		state.Forgotten = max(state.Forgotten, int64(r.changed)) // #nosec G115 -- the same bits
		return writeFeedState(w.data.Tx(), t.spec.Name, state)
	})
}

// tend changes a tombstone by do, if it is still that of the same deletion.
func (t *table) tend(ctx context.Context, tombstone docstore.Tombstone,
	do func(w writer, key []byte, r record) error) error {
	if err := t.spec.CheckTombstones(); err != nil {
		return err
	}
	key, err := t.keyOf(tombstone.ID)
	if err != nil {
		return err
	}
	isThere := false
	err = t.engine.write(ctx, 0, func(tx *bolt.Tx) (bool, error) {
		w := t.writer(tx)
		r := recordOf(w.data.Get(key))
		if isThere = r.isTombstone && r.changed == tombstone.At; !isThere {
			return false, nil
		}
		return true, do(w, key, r)
	})
	if err == nil && !isThere {
		return docstore.ErrNotFound
	}
	return err
}
