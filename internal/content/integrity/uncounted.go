package integrity

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"

	"github.com/waybook/waybook/internal/docstore"
)

// maxSuspects bounds how many children one check keeps for a second look.
const maxSuspects = 10_000

// Uncounted finds children that are stored before their parent counts them. They carry no
// time. So a child is a finding if it is uncounted and, after a wait that is longer than a
// call takes, still uncounted and the same.
type Uncounted[P, C any] struct {
	// Is reports whether a child is uncounted.
	Is func(*P, *C) bool
	// ID returns a child's id. IsSame reports whether a child has not changed.
	ID     func(*C) int64
	IsSame func(before, after *C) bool
	// Wait waits until no call counts a child that was stored before.
	Wait func(context.Context) error
	// Count counts children of a parent.
	Count func(ctx context.Context, parentID int64, ids []int64) error
}

// suspect is a child that was uncounted at the first look.
type suspect[C any] struct {
	parentID int64
	child    C
}

func (r Rule[P, C]) isSuspect(parent *P, child *C, suspects int) bool {
	return r.Uncounted != nil && suspects < maxSuspects && r.Uncounted.Is(parent, child)
}

// judgeUncounted looks at the suspects again. They are in the order of their parents.
func (r Rule[P, C]) judgeUncounted(ctx context.Context, mode Mode, suspects []suspect[C], all *findings) error {
	if len(suspects) == 0 {
		return nil
	}
	if err := r.Uncounted.Wait(ctx); err != nil {
		return err
	}
	for len(suspects) > 0 {
		parentID := suspects[0].parentID
		before := map[int64]*C{}
		for len(suspects) > 0 && suspects[0].parentID == parentID {
			child := &suspects[0].child
			before[r.Uncounted.ID(child)] = child
			suspects = suspects[1:]
		}
		if err := r.judgeChildren(ctx, mode, parentID, before, all); err != nil {
			return fmt.Errorf("%s under %d: %w", r.Children.Name(), parentID, err)
		}
	}
	return nil
}

// judgeChildren rechecks the suspects under one parent.
func (r Rule[P, C]) judgeChildren(ctx context.Context, mode Mode, parentID int64, before map[int64]*C, all *findings) error {
	late, err := r.uncountedOf(ctx, parentID, slices.Collect(maps.Keys(before)), func(child *C) bool {
		return r.Uncounted.IsSame(before[r.Uncounted.ID(child)], child)
	})
	if errors.Is(err, errBusy) {
		all.busy.add(parentID, 1, 0)
		return nil
	}
	if err != nil || len(late) == 0 {
		return err
	}
	var left []int64
	if mode == Repair {
		if err := r.Uncounted.Count(ctx, parentID, late); err != nil {
			return err
		}
		left, err = r.uncountedOf(ctx, parentID, late, func(*C) bool { return true })
	} else {
		left = late
	}
	if err != nil && !errors.Is(err, errBusy) {
		return err
	}
	all.uncounted.add(parentID, int64(len(late)), int64(len(late)-len(left)))
	return nil
}

// uncountedOf returns the uncounted children of those with the given ids, if isLate holds. It
// returns none of a deleted parent. Errors: errBusy.
func (r Rule[P, C]) uncountedOf(ctx context.Context, parentID int64, ids []int64, isLate func(*C) bool) (late []int64, err error) {
	err = atRest(ctx, parentID, r.Parents.Documents.Observe, func(parent *P) error {
		late = nil
		children, err := r.Children.GetMany(ctx, ids)
		for i := range children {
			if child := &children[i]; r.Uncounted.Is(parent, child) && isLate(child) {
				late = append(late, r.Uncounted.ID(child))
			}
		}
		return err
	})
	if errors.Is(err, docstore.ErrNotFound) {
		return nil, nil
	}
	return late, err
}

// batchDocuments is how many documents are read at a time. A batch of the longest entries
// fits into about ten megabytes.
const batchDocuments = 100

// reader returns the documents of a collection one by one in the order of an index.
type reader[T any] struct {
	pull  func() ([]T, error, bool)
	stop  func()
	batch []T
	// total is how many documents were read. It is reported to progress.
	total    int64
	progress func(documents int64)
}

func read[T any](ctx context.Context, c *docstore.Collection[int64, T], index string, progress func(string, int64)) *reader[T] {
	r := &reader[T]{progress: func(documents int64) { progress(c.Name(), documents) }}
	r.pull, r.stop = iter.Pull2(c.Batches(ctx, docstore.Query{Where: docstore.All(index).Everywhere(), Limit: batchDocuments}))
	return r
}

// peek returns the next document, or nil after the last one. Repeated calls return the same
// document until next is called. The document stays usable after that.
func (r *reader[T]) peek() (*T, error) {
	if len(r.batch) == 0 {
		batch, err, more := r.pull()
		if err != nil || !more {
			return nil, err
		}
		r.batch = batch
		r.total += int64(len(batch))
		r.progress(r.total)
	}
	return &r.batch[0], nil
}

func (r *reader[T]) next() { r.batch = r.batch[1:] }

// skip skips the documents before the first for which isWanted is false, and visits each of
// them.
func (r *reader[T]) skip(isWanted func(*T) bool, visit func(*T)) error {
	for {
		document, err := r.peek()
		if err != nil || document == nil || !isWanted(document) {
			return err
		}
		if visit != nil {
			visit(document)
		}
		r.next()
	}
}
