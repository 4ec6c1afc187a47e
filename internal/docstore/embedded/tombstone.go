package embedded

import (
	"context"
	"fmt"

	bolt "go.etcd.io/bbolt"

	"github.com/waybook/waybook/internal/docstore"
)

// A tombstone is stored in the place of its document, with one more moment behind it: when it is due. A
// bucket has an entry for each of them: the moment and the encoded _id → nothing.

func tombstonesBucket(collection string) []byte { return []byte("tombstones/" + collection) }

// setDue makes a tombstone due at a moment.
func (b buckets) setDue(id []byte, r *record, due docstore.Moment) error {
	entries, err := b.tx.CreateBucketIfNotExists(tombstonesBucket(b.table.spec.Name))
	if err != nil {
		return err
	}
	if err := entries.Delete(entryKey(r.due, id)); err != nil {
		return err
	}
	r.due = due
	return entries.Put(entryKey(due, id), nil)
}

// Tombstones reads between two commits, so what it returns is durable.
func (t *table) Tombstones(ctx context.Context, after docstore.Moment, limit int) ([]docstore.Tombstone, docstore.Moment, error) {
	if err := t.spec.CheckTombstones(); err != nil {
		return nil, 0, err
	}
	var due []docstore.Tombstone
	var now docstore.Moment
	err := t.engine.write(ctx, 0, func(tx *bolt.Tx) (bool, error) {
		due, now = nil, t.engine.commit.moments.current()
		entries := tx.Bucket(tombstonesBucket(t.spec.Name))
		if entries == nil {
			return false, nil
		}
		documents, cursor := tx.Bucket(t.documents), entries.Cursor()
		for key, _ := cursor.Seek(entryKey(after+1, nil)); key != nil && len(due) < limit; key, _ = cursor.Next() {
			entry, err := t.entryOf(key)
			if err != nil || entry.At > now {
				return false, err
			}
			r := recordOf(documents.Get(key[momentBytes:]))
			if !r.isTombstone {
				return false, fmt.Errorf("the store is damaged: entry %x refers to no tombstone", key)
			}
			due = append(due, docstore.Tombstone{ID: entry.ID, At: r.changed, Due: entry.At, IsClear: stateOf(r) == docstore.Gone})
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
	return t.tend(ctx, tombstone, func(b buckets, key []byte, r record) error {
		cleared, err := docstore.Cleared(r.bson)
		if err != nil {
			return err
		}
		r.bson = cleared
		if err := b.setDue(key, &r, until); err != nil {
			return err
		}
		return b.documents.Put(key, r.stored())
	})
}

// Forget removes a tombstone.
func (t *table) Forget(ctx context.Context, tombstone docstore.Tombstone) error {
	return t.tend(ctx, tombstone, func(b buckets, key []byte, r record) error {
		p, err := t.place(r)
		if err != nil {
			return err
		}
		if err := b.tx.Bucket(tombstonesBucket(t.spec.Name)).Delete(entryKey(r.due, key)); err != nil {
			return err
		}
		if err := b.remove(p); err != nil || b.feed == nil {
			return err
		}
		state, _, err := readFeedState(b.tx, t.spec.Name)
		if err != nil {
			return err
		}
		state.Forgotten = max(state.Forgotten, int64(r.changed)) // #nosec G115 -- the same bits
		return writeFeedState(b.tx, t.spec.Name, state)
	})
}

// tend changes a tombstone by do, if it is still that of the same deletion.
func (t *table) tend(ctx context.Context, tombstone docstore.Tombstone, do func(b buckets, key []byte, r record) error) error {
	if err := t.spec.CheckTombstones(); err != nil {
		return err
	}
	key, err := t.idKey(tombstone.ID)
	if err != nil {
		return err
	}
	isThere := false
	err = t.engine.write(ctx, 0, func(tx *bolt.Tx) (bool, error) {
		b := t.buckets(tx)
		r := recordOf(b.documents.Get(key))
		if isThere = r.isTombstone && r.changed == tombstone.At; !isThere {
			return false, nil
		}
		return true, do(b, key, r)
	})
	if err == nil && !isThere {
		return docstore.ErrNotFound
	}
	return err
}
