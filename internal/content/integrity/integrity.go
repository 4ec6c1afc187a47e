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
	bare := &rule{
		kind: r.Kind, under: r.Under, parents: r.Parents.Documents.Name(), children: r.Children.Name(),
		parentID:  func(parent any) int64 { return r.Parents.ID(parent.(*P)) },
		parentOf:  func(child any) int64 { return r.ParentOf(child.(*C)) },
		isStored:  r.Parents.IsStored,
		deleted:   r.Parents.Documents.Deleted,
		deleteAll: r.Children.DeleteAll,
		count:     r.Children.Count,
		getParent: func(ctx context.Context, id int64) (any, error) {
			parent, err := r.Parents.Documents.Get(ctx, id)
			return &parent, err
		},
		readParents: func(ctx context.Context, query docstore.Query) iter.Seq2[any, error] {
			return each(r.Parents.Documents.Batches(ctx, query))
		},
		readChildren: func(ctx context.Context, query docstore.Query) iter.Seq2[any, error] {
			return each(r.Children.Batches(ctx, query))
		},
	}
	if r.Fits != nil {
		bare.fits = func(parent any, numbers Numbers) bool { return r.Fits(parent.(*P), numbers) }
		bare.value = func(parent, child any) int32 { return r.Value(parent.(*P), child.(*C)) }
	}
	return Constraint{Parents: bare.parents, Children: bare.children, Index: r.Under(0).Index(), Check: bare.check}
}

// each returns pointers to the documents of batches.
func each[T any](batches iter.Seq2[[]T, error]) iter.Seq2[any, error] {
	return func(yield func(any, error) bool) {
		for batch, err := range batches {
			if err != nil {
				yield(nil, err)
				return
			}
			for i := range batch {
				if !yield(&batch[i], nil) {
					return
				}
			}
		}
	}
}

// rule is a Rule whose types are not known, so that it is compiled once. Its documents are pointers.
type rule struct {
	kind                      Kind
	parents, children         string
	under                     func(parentID int64) docstore.Where
	parentID, parentOf        func(document any) int64
	isStored                  func(ctx context.Context, parentID int64) (bool, error)
	deleted                   func(ctx context.Context, parentIDs []int64) (map[int64]int64, error)
	deleteAll, count          func(ctx context.Context, where docstore.Where) (int64, error)
	getParent                 func(ctx context.Context, id int64) (any, error)
	readParents, readChildren func(ctx context.Context, query docstore.Query) iter.Seq2[any, error]
	// fits is nil if the parents have no numbers.
	fits  func(parent any, numbers Numbers) bool
	value func(parent, child any) int32
}

// check reads parents and children side by side, both in the order of the parents' ids.
func (r *rule) check(ctx context.Context, mode Mode, progress func(string, int64)) ([]Finding, error) {
	all := findings{
		orphans: Finding{Kind: Orphan, Collection: r.children},
		misfits: Finding{Kind: r.kind, Collection: r.parents},
		busy:    Finding{Kind: Busy, Collection: r.parents},
	}
	reading := func(index string) docstore.Query {
		return docstore.Query{Where: docstore.All(index).Everywhere(), Limit: batchDocuments}
	}
	parents := newReader(r.readParents(ctx, reading(docstore.IDIndex)), func(n int64) { progress(r.parents, n) })
	defer parents.stop()
	children := newReader(r.readChildren(ctx, reading(r.under(0).Index())), func(n int64) { progress(r.children, n) })
	defer children.stop()
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
		case parent == nil || child != nil && r.parentOf(child) < r.parentID(parent):
			parentID := r.parentOf(child)
			if err := children.skip(func(child any) bool { return r.parentOf(child) == parentID }, nil); err != nil {
				return nil, err
			}
			if err := r.judgeOrphans(ctx, mode, parentID, &all.orphans); err != nil {
				return nil, fmt.Errorf("%s under %d: %w", r.children, parentID, err)
			}
		default:
			parentID, numbers := r.parentID(parent), Numbers{}
			if err := children.skip(
				func(child any) bool { return r.parentOf(child) == parentID },
				func(child any) {
					if r.fits != nil {
						numbers[r.value(parent, child)]++
					}
				},
			); err != nil {
				return nil, err
			}
			parents.next()
			if r.fits == nil || r.fits(parent, numbers) {
				continue
			}
			if err := r.judge(ctx, parentID, &all); err != nil {
				return nil, fmt.Errorf("%s under %d: %w", r.children, parentID, err)
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
func (r *rule) judgeOrphans(ctx context.Context, mode Mode, parentID int64, finding *Finding) error {
	exists, err := r.isStored(ctx, parentID)
	if err != nil || exists {
		return err
	}
	deleted, err := r.deleted(ctx, []int64{parentID})
	if err != nil || deleted[parentID] == docstore.Going {
		return err
	}
	var count, repaired int64
	if mode == Repair {
		repaired, err = r.deleteAll(ctx, r.under(parentID))
		count = repaired
	} else {
		count, err = r.count(ctx, r.under(parentID))
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
func (r *rule) judge(ctx context.Context, parentID int64, all *findings) error {
	err := r.atRest(ctx, parentID, func(parent any) error {
		numbers, err := r.numbers(ctx, parentID, parent)
		if err != nil {
			return err
		}
		if r.fits(parent, numbers) {
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

// numbers counts the children of a parent by value.
func (r *rule) numbers(ctx context.Context, parentID int64, parent any) (Numbers, error) {
	numbers := Numbers{}
	for child, err := range r.readChildren(ctx, docstore.Query{Where: r.under(parentID), Limit: batchDocuments}) {
		if err != nil {
			return nil, err
		}
		numbers[r.value(parent, child)]++
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
func (r *rule) atRest(ctx context.Context, parentID int64, examine func(parent any) error) error {
	for try := range maxLooks {
		if err := backOff(ctx, try); err != nil {
			return err
		}
		before, err := r.getParent(ctx, parentID)
		if err == nil {
			err = examine(before)
		}
		if err != nil {
			return err
		}
		if after, err := r.getParent(ctx, parentID); err != nil || reflect.DeepEqual(before, after) {
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

// reader returns documents one by one.
type reader struct {
	pull func() (any, error, bool)
	stop func()
	// ahead is the next document, if it has been read.
	ahead any
	// total is how many documents were read, and reported what progress knows of it.
	total, reported int64
	progress        func(documents int64)
}

func newReader(documents iter.Seq2[any, error], progress func(int64)) *reader {
	r := &reader{progress: progress}
	r.pull, r.stop = iter.Pull2(documents)
	return r
}

// peek returns the next document, or nil after the last one. Repeated calls return the same
// document until next is called. The document stays usable after that.
func (r *reader) peek() (any, error) {
	if r.ahead != nil {
		return r.ahead, nil
	}
	document, err, more := r.pull()
	if err != nil {
		return nil, err
	}
	if more {
		r.total++
	}
	if isDue := !more || r.total%batchDocuments == 0; isDue && r.total > r.reported {
		r.reported = r.total
		r.progress(r.total)
	}
	r.ahead = document
	return document, nil
}

func (r *reader) next() { r.ahead = nil }

// skip skips the documents before the first for which isWanted is false, and visits each of
// them.
func (r *reader) skip(isWanted func(document any) bool, visit func(document any)) error {
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
