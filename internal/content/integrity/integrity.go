// Package integrity checks what must hold between documents of two collections, those that
// hang on others: that none outlives its parent, and that the parent's numbers are
// right. It may run while others write. What a first look finds wrong counts only when
// it still is after a second that no writer can have misled.
package integrity

import (
	"context"
	"errors"
	"fmt"

	"github.com/waybook/waybook/internal/content/owned"
	"github.com/waybook/waybook/internal/docstore"
)

// Kind is in which way something is wrong.
type Kind string

// The kinds of what a constraint finds.
const (
	// Orphan: a document whose parent is gone, and not just deleted.
	Orphan Kind = "orphan"
	// LowCount: a parent that counts fewer children than it has.
	LowCount Kind = "low_count"
	// WrongTally: a parent whose numbers are not those of the choices under it.
	WrongTally Kind = "wrong_tally"
)

// maxExamples bounds how many parents a finding names.
const maxExamples = 10

// Finding is all that is wrong in one way in one collection.
type Finding struct {
	Kind Kind
	// Collection has the documents that are wrong.
	Collection string
	// Count is how many are wrong, and Repaired how many of them no longer are.
	Count, Repaired int64
	// Parents are the ids of some parents that this is about, the lowest.
	Parents []int64
}

func (f *Finding) add(parentID, count, repaired int64) {
	f.Count += count
	f.Repaired += repaired
	if len(f.Parents) < maxExamples {
		f.Parents = append(f.Parents, parentID)
	}
}

// Mode says what becomes of what is found.
type Mode int

// The modes.
const (
	// Look only tells; nothing is written.
	Look Mode = iota
	// Repair removes orphans and raises numbers that are too low.
	Repair
)

// Constraint is what must hold between a collection and another one, whose documents hang
// on those of the first.
type Constraint struct {
	// Parents and Children are the names of the collections. Index is the one by which
	// Children is read.
	Parents, Children, Index string
	// Check reads both collections, page by page, and returns what is wrong. It tells
	// progress how many documents of a collection it has read so far.
	Check func(ctx context.Context, mode Mode, progress func(collection string, documents int64)) ([]Finding, error)
}

// Numbers are how many children count for each value.
type Numbers map[int32]int64

// Rule is a constraint between parents of type P and children of type C.
type Rule[P, C any] struct {
	Parents  *owned.Collection[P]
	Children *docstore.Collection[C]
	// Index orders the children by their parent's id.
	Index    string
	ParentOf func(*C) int64
	// Value is what a child of a parent counts for.
	Value func(*P, *C) int32
	// Fits tells whether a parent may have the numbers that its children make. It is
	// true at every moment at which the two are read together.
	Fits func(*P, Numbers) bool
	// Kind is what is wrong with a parent that does not fit, and Repair makes it fit;
	// nil when only people can tell how.
	Kind   Kind
	Repair func(*P, Numbers)
}

// Constraint returns the rule for callers that need not know its types.
func (r Rule[P, C]) Constraint() Constraint {
	return Constraint{Parents: r.Parents.Documents.Name(), Children: r.Children.Name(), Index: r.Index, Check: r.check}
}

// check walks parents and children side by side, both in the order of the parents' ids.
func (r Rule[P, C]) check(ctx context.Context, mode Mode, progress func(string, int64)) ([]Finding, error) {
	parents := read(ctx, r.Parents.Documents, docstore.IDIndex, progress)
	defer parents.stop()
	children := read(ctx, r.Children, r.Index, progress)
	defer children.stop()
	orphans := Finding{Kind: Orphan, Collection: r.Children.Name()}
	misfits := Finding{Kind: r.Kind, Collection: r.Parents.Documents.Name()}
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
			return found(orphans, misfits), nil
		case parent == nil || child != nil && r.ParentOf(child) < r.Parents.ID(parent):
			parentID := r.ParentOf(child)
			if err := children.skip(func(c *C) bool { return r.ParentOf(c) == parentID }, nil); err != nil {
				return nil, err
			}
			if err := r.judgeOrphans(ctx, mode, parentID, &orphans); err != nil {
				return nil, fmt.Errorf("%s under %d: %w", r.Children.Name(), parentID, err)
			}
		default:
			parentID, numbers := r.Parents.ID(parent), Numbers{}
			if err := children.skip(
				func(c *C) bool { return r.ParentOf(c) == parentID },
				func(c *C) { numbers[r.Value(parent, c)]++ },
			); err != nil {
				return nil, err
			}
			parents.next()
			if r.Fits(parent, numbers) {
				continue
			}
			if err := r.judge(ctx, mode, parentID, &misfits); err != nil {
				return nil, fmt.Errorf("%s under %d: %w", r.Children.Name(), parentID, err)
			}
		}
	}
}

func found(all ...Finding) (some []Finding) {
	for _, finding := range all {
		if finding.Count > 0 {
			some = append(some, finding)
		}
	}
	return some
}

// judgeOrphans looks again at children whose parent the walk did not meet. The order
// matters: a parent that is gone has a tombstone from before until its children
// are purged. One that is missing from both has no children left but those that nothing
// will ever purge.
func (r Rule[P, C]) judgeOrphans(ctx context.Context, mode Mode, parentID int64, finding *Finding) error {
	exists, err := r.Parents.Documents.Exists(ctx, parentID)
	if err != nil || exists {
		return err
	}
	awaitsSweep, err := r.Parents.Tombstones.Holds(ctx, parentID)
	if err != nil || awaitsSweep {
		return err
	}
	var count, repaired int64
	if mode == Repair {
		repaired, err = r.Children.DeleteAll(ctx, r.Index, parentID)
		count = repaired
	} else {
		count, err = r.Children.Count(ctx, r.Index, parentID)
	}
	if err != nil || count == 0 {
		return err
	}
	finding.add(parentID, count, repaired)
	return nil
}

// errFits ends a repair of what is right meanwhile.
var errFits = errors.New("the numbers fit")

// judge looks again at a parent and its children, together.
func (r Rule[P, C]) judge(ctx context.Context, mode Mode, parentID int64, finding *Finding) error {
	examine := func(parent *P) error {
		numbers, err := r.count(ctx, parentID, parent)
		if err != nil {
			return err
		}
		if r.Fits(parent, numbers) {
			return errFits
		}
		if r.Repair != nil {
			r.Repair(parent, numbers)
		}
		return nil
	}
	var repaired int64
	var err error
	if mode == Repair && r.Repair != nil {
		_, err = r.Parents.Documents.Update(ctx, parentID, examine)
		repaired = 1
	} else {
		err = r.Parents.Documents.Observe(ctx, parentID, examine)
	}
	if errors.Is(err, errFits) || errors.Is(err, docstore.ErrNotFound) {
		return nil
	}
	if err == nil {
		finding.add(parentID, 1, repaired)
	}
	return err
}

// count counts the children of a parent.
func (r Rule[P, C]) count(ctx context.Context, parentID int64, parent *P) (Numbers, error) {
	numbers := Numbers{}
	for batch, err := range r.Children.Batches(ctx, docstore.Query{Index: r.Index, Equal: []any{parentID}, Limit: batchDocuments}) {
		if err != nil {
			return nil, err
		}
		for i := range batch {
			numbers[r.Value(parent, &batch[i])]++
		}
	}
	return numbers, nil
}
