// Package tombstone finishes deletions. Deleting a parent removes its own document,
// which makes it invisible; its children go later, at a sweep. A record written
// first makes sure of that whatever happens in between (rule 14.11).
package tombstone

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/waybook/waybook/internal/docstore"
)

// grace is how long a record is kept: longer than any call may run, so that a child
// added by one that began before the deletion is swept too.
const grace = 5 * time.Minute

// sweepBatch is how many records a sweep holds at a time.
const sweepBatch = 100

const timeIndex = "time"

// record says that a document was to be deleted.
type record struct {
	ID int64 `bson:"_id"`
	// DeleteMillis is when, in milliseconds since 1970.
	DeleteMillis int64 `bson:"delete_millis"`
}

// Bin deletes the documents of one collection. It may be used concurrently, by any
// number of processes.
type Bin struct {
	records *docstore.Collection[record]
	now     func() time.Time
	grace   time.Duration
}

// Open returns the bin whose records are in the named collection.
func Open(ctx context.Context, engine docstore.Engine, collection string, now func() time.Time) (*Bin, error) {
	records, err := docstore.Open[record](ctx, engine, docstore.Spec{
		Name: collection,
		ID:   docstore.Int64,
		// A sweep goes through the records, oldest first.
		Indexes: []docstore.Index{{Name: timeIndex, Fields: []docstore.Field{{Name: "delete_millis", Kind: docstore.Int64}}}},
	})
	if err != nil {
		return nil, err
	}
	return &Bin{records: records, now: now, grace: grace}, nil
}

// Delete removes a parent's document by remove, whose error it returns. When that
// succeeded a sweep will purge the children.
func (b *Bin) Delete(ctx context.Context, id int64, remove func(context.Context, any) error) error {
	now := b.now().UnixMilli()
	err := b.records.Insert(ctx, record{ID: id, DeleteMillis: now})
	var earlier *docstore.DuplicateError
	if errors.As(err, &earlier) {
		// An earlier try failed; its record must live as long as this one's would.
		_, err = b.records.Update(ctx, id, func(r *record) error {
			r.DeleteMillis = now
			return nil
		})
	}
	if err != nil {
		return err
	}
	return remove(ctx, id)
}

// Holds tells whether the children of a document that was deleted await a sweep.
func (b *Bin) Holds(ctx context.Context, id int64) (bool, error) {
	return b.records.Exists(ctx, id)
}

// Sweep purges the children of deleted parents. A parent that exists still is let
// be, and so is its record: the deletion is under way, or failed and may be tried
// again at this moment. It goes on past a parent whose purge failed and returns all
// errors.
func (b *Bin) Sweep(ctx context.Context, exists func(context.Context, int64) (bool, error), purge func(context.Context, int64) error) error {
	var failed []error
	oldest := b.now().Add(-b.grace).UnixMilli()
	for records, err := range b.records.Batches(ctx, docstore.Query{Index: timeIndex, Limit: sweepBatch}) {
		if err != nil {
			return errors.Join(append(failed, err)...)
		}
		for _, r := range records {
			isThere, err := exists(ctx, r.ID)
			if err == nil && !isThere {
				err = purge(ctx, r.ID)
			}
			if err == nil && !isThere && r.DeleteMillis < oldest {
				err = b.forget(ctx, r)
			}
			if err != nil {
				failed = append(failed, fmt.Errorf("sweep %d: %w", r.ID, err))
			}
		}
	}
	return errors.Join(failed...)
}

// forget drops a record; another process may have been first.
func (b *Bin) forget(ctx context.Context, r record) error {
	if err := b.records.Delete(ctx, r.ID); !errors.Is(err, docstore.ErrNotFound) {
		return err
	}
	return nil
}
