package embedded

import (
	"context"

	bolt "go.etcd.io/bbolt"

	"github.com/waybook/waybook/internal/docstore"
)

// These limits bound a chunk of DeleteAll, which is one transaction.
const (
	deleteChunkDocuments = 1000
	deleteChunkBytes     = 8 << 20
)

// DeleteAll deletes in chunks, so that other writers can write in between.
func (t *table) DeleteAll(ctx context.Context, where docstore.Where) (int64, error) {
	if err := t.spec.CheckDeleteAll(); err != nil {
		return 0, err
	}
	ix, bounds, err := t.resolve(docstore.Scan{Where: where, Limit: 1})
	if err != nil {
		return 0, err
	}
	var total int64
	limit := deleteChunkDocuments
	for {
		deleted, more := 0, false
		err := t.engine.write(ctx, deleteChunkBytes, func(tx *bolt.Tx) (bool, error) {
			var doomed []prepared
			var err error
			if doomed, more, err = t.chunk(tx, ix, bounds, limit); err != nil {
				return false, err
			}
			b := t.buckets(tx)
			for _, p := range doomed {
				if err := b.remove(p); err != nil {
					return true, err
				}
			}
			deleted = len(doomed)
			return deleted > 0, nil
		})
		if err != nil && isLackOfSpace(err) && limit > 1 {
			limit /= 10 // fewer documents change fewer pages
			continue
		}
		if err != nil {
			return total, err
		}
		total += int64(deleted)
		if !more {
			return total, nil
		}
	}
}

// chunk returns the first documents within bounds, at most limit, and whether there are more.
func (t *table) chunk(tx *bolt.Tx, ix *index, bounds docstore.Bounds, limit int) (doomed []prepared, more bool, err error) {
	size := 0
	for w := t.walk(tx, ix, bounds); w.valid(); w.next() {
		if len(doomed) == limit || size > deleteChunkBytes {
			return doomed, true, nil
		}
		found, err := w.document()
		if err != nil {
			return nil, false, err
		}
		p, err := t.place(found)
		if err != nil {
			return nil, false, err
		}
		doomed = append(doomed, p)
		size += len(found.bson)
	}
	return doomed, false, nil
}
