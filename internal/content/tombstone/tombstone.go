// Package tombstone ensures that deletions are finished. Deleting a parent removes its own
// document first, which makes it invisible. A later sweep removes its children. A record
// written before the deletion guarantees that sweep, whatever fails in between (rule
// 14.11).
package tombstone

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/waybook/waybook/internal/docstore"
)

// grace is how long a record is kept. It is longer than any call may run. So a sweep also
// removes a child that was added by a call from before the deletion.
const grace = 5 * time.Minute

// sweepBatch is how many records a sweep holds at a time.
const sweepBatch = 100

// byTime orders the records by the time of the deletion; a sweep reads the oldest first.
func byTime() docstore.Index1[int64] {
	return docstore.Index1[int64]{Name: "time", A: "delete_millis"}
}

// record marks a document for deletion.
type record struct {
	ID int64 `bson:"_id"`
	// DeleteMillis is the time of the deletion, in milliseconds since 1970.
	DeleteMillis int64 `bson:"delete_millis"`
}

// Records are the tombstones of one collection's documents. They may be used concurrently,
// by any number of processes.
type Records struct {
	records *docstore.Collection[int64, record]
	now     func() time.Time
	grace   time.Duration
}

// Open opens the records in the named collection.
func Open(ctx context.Context, engine docstore.Engine, collection string, now func() time.Time) (*Records, error) {
	records, err := docstore.Open[int64, record](ctx, engine, docstore.Spec{
		Name: collection, ID: docstore.Int64, Sharding: docstore.ByPlace, Indexes: []docstore.Index{byTime().Declare()},
	})
	if err != nil {
		return nil, err
	}
	return &Records{records: records, now: now, grace: grace}, nil
}

// Delete removes a parent's document with remove and returns its error. After success, a
// sweep will purge the children.
func (r *Records) Delete(ctx context.Context, id int64, remove func(context.Context, int64) error) error {
	now := r.now().UnixMilli()
	err := r.records.Insert(ctx, record{ID: id, DeleteMillis: now})
	var earlier *docstore.DuplicateError
	if errors.As(err, &earlier) {
		// An earlier attempt failed. Its record must now live as long as a new one.
		_, err = r.records.Update(ctx, id, func(earlier *record) error {
			earlier.DeleteMillis = now
			return nil
		})
	}
	if err != nil {
		return err
	}
	return remove(ctx, id)
}

// Holds reports whether the children of a deleted document await a sweep.
func (r *Records) Holds(ctx context.Context, id int64) (bool, error) {
	return r.records.Exists(ctx, id)
}

// Sweep purges the children of deleted parents. It skips a parent that still exists and
// keeps its record, because the deletion may be in flight, or failed and be retried right
// now. It continues after a failed purge and returns all errors.
func (r *Records) Sweep(ctx context.Context, exists func(context.Context, int64) (bool, error), purge func(context.Context, int64) error) error {
	var failed []error
	oldest := r.now().Add(-r.grace).UnixMilli()
	for records, err := range r.records.Batches(ctx, docstore.Query{Where: byTime().All().Everywhere(), Limit: sweepBatch}) {
		if err != nil {
			return errors.Join(append(failed, err)...)
		}
		for _, old := range records {
			isThere, err := exists(ctx, old.ID)
			if err == nil && !isThere {
				err = purge(ctx, old.ID)
			}
			if err == nil && !isThere && old.DeleteMillis < oldest {
				err = r.forget(ctx, old.ID)
			}
			if err != nil {
				failed = append(failed, fmt.Errorf("sweep %d: %w", old.ID, err))
			}
		}
	}
	return errors.Join(failed...)
}

// forget deletes a record. Another process may have deleted it first.
func (r *Records) forget(ctx context.Context, id int64) error {
	if err := r.records.Delete(ctx, id); !errors.Is(err, docstore.ErrNotFound) {
		return err
	}
	return nil
}
