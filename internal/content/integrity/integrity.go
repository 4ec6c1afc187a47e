// Package integrity checks the constraints between documents of two collections. No child
// may outlive its parent, and the parent's numbers must be right. It may run during writes.
// A first pass finds suspects. A suspect becomes a finding only if a second read, which no
// concurrent write can mislead, confirms it.
package integrity

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"time"

	"github.com/waybook/waybook/internal/content/owned"
	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/pause"
)

// Kind is a kind of fault.
type Kind string

// The kinds of faults that a constraint finds.
const (
	// Orphan is a document whose parent is gone and which no sweep will remove.
	Orphan Kind = "orphan"
	// WrongTally is a parent whose numbers do not match the counted choices under it.
	WrongTally Kind = "wrong_tally"
	// Busy is a parent that could not be checked, because it changed during every look.
	Busy Kind = "busy"
)

// maxExamples bounds the number of parents in a finding.
const maxExamples = 10

// Finding reports all faults of one kind in one collection.
type Finding struct {
	Kind Kind
	// Collection is the collection of the wrong documents.
	Collection string
	// Count is the number of wrong documents. Repaired is how many of them were repaired.
	Count, Repaired int64
	// Parents are the ids of some of the parents concerned, the lowest first.
	Parents []int64
}

func (f *Finding) add(parentID, count, repaired int64) {
	f.Count += count
	f.Repaired += repaired
	if len(f.Parents) < maxExamples {
		f.Parents = append(f.Parents, parentID)
	}
}

// Mode selects whether a check repairs the faults it finds.
type Mode int

// The modes.
const (
	// Look reports faults and writes nothing.
	Look Mode = iota
	// Repair removes orphans, but not those whose parent a move may be about to store. Only a person can decide about
	// the rest.
	Repair
)

// Constraint is a rule that parents in one collection and their children in another must
// obey.
type Constraint struct {
	// Parents and Children are the names of the collections. Index is the index by which
	// Children is read.
	Parents, Children, Index string
	// Check reads both collections, page by page, and returns the faults. It reports to
	// progress how many documents of a collection it has read so far.
	Check func(ctx context.Context, mode Mode, progress func(collection string, documents int64)) ([]Finding, error)
}

// Numbers are the numbers of children by value.
type Numbers map[int32]int64

// Rule is a constraint between parents of type P and children of type C, whose ids are of type K.
type Rule[P any, K docstore.Key, C any] struct {
	Parents  *owned.Collection[P]
	Children *docstore.Collection[K, C]
	// Under selects the children of a parent, in an index that orders them by their parent's
	// id.
	Under    func(parentID int64) docstore.Where
	ParentOf func(*C) int64
	// Fits reports whether a parent's numbers agree with those of its children. It must be
	// true at every moment at which both are read together. It is nil if the parent has no
	// numbers. Value returns the value that a child of a parent counts for. Kind is the fault of a
	// parent that does not fit.
	Fits  func(*P, Numbers) bool
	Value func(*P, *C) int32
	Kind  Kind
}

// Constraint returns the rule without its type parameters.
func (r Rule[P, K, C]) Constraint() Constraint {
	return Constraint{Parents: r.Parents.Documents.Name(), Children: r.Children.Name(), Index: r.index(), Check: r.check}
}

// index is the name of the index of Under.
func (r Rule[P, K, C]) index() string { return r.Under(0).Index() }

// check reads parents and children side by side, both in the order of the parents' ids.
func (r Rule[P, K, C]) check(ctx context.Context, mode Mode, progress func(string, int64)) ([]Finding, error) {
	parents := read(ctx, r.Parents.Documents, docstore.IDIndex, progress)
	defer parents.stop()
	children := read(ctx, r.Children, r.index(), progress)
	defer children.stop()
	all := findings{
		orphans: Finding{Kind: Orphan, Collection: r.Children.Name()},
		misfits: Finding{Kind: r.Kind, Collection: r.Parents.Documents.Name()},
		busy:    Finding{Kind: Busy, Collection: r.Parents.Documents.Name()},
	}
	for {
		parent, err := parents.peek()
		if err != nil {
			return nil, err
		}
		child, err := children.peek()
		if err != nil {
			return nil, err
		}
		switch {
		case parent == nil && child == nil:
			return found(all.orphans, all.misfits, all.busy), nil
		case parent == nil || child != nil && r.ParentOf(child) < r.Parents.ID(parent):
			parentID := r.ParentOf(child)
			if err := children.skip(func(c *C) bool { return r.ParentOf(c) == parentID }, nil); err != nil {
				return nil, err
			}
			if err := r.judgeOrphans(ctx, mode, parentID, &all.orphans); err != nil {
				return nil, fmt.Errorf("%s under %d: %w", r.Children.Name(), parentID, err)
			}
		default:
			parentID, numbers := r.Parents.ID(parent), Numbers{}
			if err := children.skip(
				func(c *C) bool { return r.ParentOf(c) == parentID },
				func(c *C) {
					if r.Fits == nil {
						return
					}
					numbers[r.Value(parent, c)]++
				},
			); err != nil {
				return nil, err
			}
			parents.next()
			if r.Fits == nil || r.Fits(parent, numbers) {
				continue
			}
			if err := r.judge(ctx, parentID, &all); err != nil {
				return nil, fmt.Errorf("%s under %d: %w", r.Children.Name(), parentID, err)
			}
		}
	}
}

// findings are the findings of one check.
type findings struct{ orphans, misfits, busy Finding }

func found(all ...Finding) (some []Finding) {
	for _, finding := range all {
		if finding.Count > 0 {
			some = append(some, finding)
		}
	}
	return some
}

// judgeOrphans rechecks children whose parent the first pass did not find. The order of the
// reads matters. A sweep purges the children of a deleted parent until its tombstone is clear. If the
// parent is missing and no sweep is still to come, nothing will ever purge the children that are left.
func (r Rule[P, K, C]) judgeOrphans(ctx context.Context, mode Mode, parentID int64, finding *Finding) error {
	exists, err := r.Parents.IsStored(ctx, parentID)
	if err != nil || exists {
		return err
	}
	deleted, err := r.Parents.Documents.Deleted(ctx, []int64{parentID})
	if err != nil || deleted[parentID] == docstore.Going {
		return err
	}
	var count, repaired int64
	if mode == Repair {
		repaired, err = r.Children.DeleteAll(ctx, r.Under(parentID))
		count = repaired
	} else {
		count, err = r.Children.Count(ctx, r.Under(parentID))
	}
	if err != nil || count == 0 {
		return err
	}
	finding.add(parentID, count, repaired)
	return nil
}

// errFits ends a look when the numbers are right by now.
var errFits = errors.New("the numbers fit")

// judge rechecks a parent together with its children.
func (r Rule[P, K, C]) judge(ctx context.Context, parentID int64, all *findings) error {
	err := r.atRest(ctx, parentID, func(parent *P) error {
		numbers, err := r.count(ctx, parentID, parent)
		if err != nil {
			return err
		}
		if r.Fits(parent, numbers) {
			return errFits
		}
		return nil
	})
	switch {
	case errors.Is(err, errFits), errors.Is(err, docstore.ErrNotFound):
		return nil
	case errors.Is(err, errBusy):
		all.busy.add(parentID, 1, 0)
		return nil
	case err != nil:
		return err
	}
	all.misfits.add(parentID, 1, 0)
	return nil
}

// count counts the children of a parent.
func (r Rule[P, K, C]) count(ctx context.Context, parentID int64, parent *P) (Numbers, error) {
	numbers := Numbers{}
	for batch, err := range r.Children.Batches(ctx, docstore.Query{Where: r.Under(parentID), Limit: batchDocuments}) {
		if err != nil {
			return nil, err
		}
		for i := range batch {
			numbers[r.Value(parent, &batch[i])]++
		}
	}
	return numbers, nil
}

const (
	// maxLooks bounds how often a check reads a parent with its children while the parent
	// changes.
	maxLooks = 8
	// firstPause is the pause after the second look. Each further pause is twice as long.
	firstPause = 5 * time.Millisecond
)

// errBusy reports that a parent changed during every look.
var errBusy = errors.New("the parent does not rest")

// atRest examines a parent at a time when nobody changes it. Errors: errBusy, docstore.ErrNotFound, and
// those of examine.
func (r Rule[P, K, C]) atRest(ctx context.Context, parentID int64, examine func(*P) error) error {
	for try := range maxLooks {
		if err := backOff(ctx, try); err != nil {
			return err
		}
		before, err := r.Parents.Documents.Get(ctx, parentID)
		if err == nil {
			err = examine(&before)
		}
		if err != nil {
			return err
		}
		if after, err := r.Parents.Documents.Get(ctx, parentID); err != nil || reflect.DeepEqual(before, after) {
			return err
		}
	}
	return errBusy
}

// backOff waits before a look at a parent that has changed during the looks before.
func backOff(ctx context.Context, try int) error {
	if try < 2 {
		return ctx.Err()
	}
	return pause.For(ctx, firstPause<<(try-2))
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

func read[K docstore.Key, T any](ctx context.Context, c *docstore.Collection[K, T], index string, progress func(string, int64)) *reader[T] {
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
