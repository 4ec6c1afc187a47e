// Package integrity checks the constraints between documents of two collections: no child may
// outlive its parent, and the parent's numbers must be right. It may run during writes. A first
// pass finds suspects. A suspect becomes a finding only if a second read, which no concurrent
// write can mislead, confirms it.
package integrity

import (
	"context"
	"iter"
	"math"
	"reflect"
	"slices"

	"github.com/waybook/waybook/internal/content/owned"
	"github.com/waybook/waybook/internal/docstore"
)

// Kind is a kind of fault.
type Kind string

// The kinds of faults that a constraint finds.
const (
	Orphan     Kind = "orphan"      // a document whose parent is gone and which no sweep will remove
	WrongTally Kind = "wrong_tally" // a parent whose numbers do not match the counted choices under it
)

// Finding is one kind of fault in one collection.
type Finding struct {
	Service    string `json:"service,omitempty"`
	Collection string `json:"collection,omitempty"`
	Kind       Kind   `json:"kind"`
	// Count is how many documents or indexes are wrong. Repaired is how many of those were
	// repaired.
	Count    int64 `json:"count"`
	Repaired int64 `json:"repaired"`
	// Parents are the ids of some of the parents concerned, the lowest first.
	Parents []int64 `json:"parents,omitempty"`
	// Detail describes the fault for people.
	Detail string `json:"detail"`
}

// Mode selects whether a check repairs the faults it finds.
type Mode int

// The modes.
const (
	// Look reports faults and writes nothing.
	Look Mode = iota
	// Repair removes orphans. Only a person can decide about wrong numbers.
	Repair
)

// Constraint is a rule that parents in one collection and their children in another obey.
type Constraint struct {
	// Parents and Children are the names of the collections. Index is that by which the children
	// are read.
	Parents, Children, Index string
	// Check reads both collections, page by page, and returns a finding for each kind of fault. It
	// reports to progress how many documents it has read since the last report.
	Check func(ctx context.Context, mode Mode, progress func(documents int)) ([]Finding, error)
}

// Numbers are the numbers of children by value.
type Numbers map[int32]int64

// Rule is a constraint between parents of type P and children of type C, whose ids are of type K.
type Rule[P any, K docstore.Key, C any] struct {
	Parents  *owned.Collection[P]
	Children *docstore.Collection[K, C]
	// Under selects the children of a parent, in an index that orders them by their parent's id.
	Under    func(parentID int64) docstore.Where
	ParentOf func(*C) int64
	// Fits reports whether a parent's numbers agree with those of its children. It is true at
	// every moment at which both are read together. It is nil if the parent has no numbers. Value
	// returns the value that a child of a parent counts for. Kind is the fault of a parent that
	// does not fit.
	Fits  func(*P, Numbers) bool
	Value func(*P, *C) int32
	Kind  Kind
}

// Constraint returns the rule without its type parameters.
func (r Rule[P, K, C]) Constraint() Constraint {
	return Constraint{r.Parents.Documents.Name(), r.Children.Name(), r.Under(0).Index(), r.check}
}

const (
	// batchDocuments is how many documents are read at a time. A batch of the longest entries fits
	// into about ten megabytes.
	batchDocuments = 100
	// maxLooks bounds how often a check reads a parent with its children while the parent changes.
	maxLooks = 8
	// maxExamples bounds the number of parents in a finding.
	maxExamples = 10
)

// check reads parents and children side by side, both in the order of the parents' ids.
func (r Rule[P, K, C]) check(ctx context.Context, mode Mode, progress func(int)) ([]Finding, error) {
	parents, children := r.Parents.Documents.Name(), r.Children.Name()
	found := []Finding{
		{Collection: children, Kind: Orphan, Detail: "hang on documents of " + parents + " that are gone"},
		{Collection: parents, Kind: r.Kind,
			Detail: "have other numbers than " + children + "; decide which are right"},
	}
	orphans, misfits := &found[0], &found[1]
	everything := func(index string) docstore.Query {
		return docstore.Query{Where: docstore.All(index).Everywhere(), Limit: batchDocuments}
	}
	next, stop := iter.Pull2(r.Parents.Documents.Batches(ctx, everything(docstore.IDIndex)))
	defer stop()
	var ahead []P // parents that have been read; numbers are those of the first
	numbers := Numbers{}
	// reach judges the parents before an id, and returns the first one from there on, or nil.
	reach := func(id int64) (*P, error) {
		for {
			if len(ahead) == 0 {
				batch, err, isMore := next()
				if err != nil || !isMore {
					return nil, err
				}
				ahead = batch
				progress(len(batch))
			}
			if r.Parents.ID(&ahead[0]) >= id {
				return &ahead[0], nil
			}
			if r.Fits != nil && !r.Fits(&ahead[0], numbers) {
				if err := r.judge(ctx, r.Parents.ID(&ahead[0]), misfits); err != nil {
					return nil, err
				}
			}
			ahead, numbers = ahead[1:], Numbers{}
		}
	}
	if _, err := reach(math.MinInt64); err != nil { // as in judge, parents are read first
		return nil, err
	}
	orphaned := int64(-1)
	for batch, err := range r.Children.Batches(ctx, everything(r.Under(0).Index())) {
		if err != nil {
			return nil, err
		}
		progress(len(batch))
		for i := range batch {
			parentID := r.ParentOf(&batch[i])
			parent, err := reach(parentID)
			isOrphan := parent == nil || r.Parents.ID(parent) != parentID
			if err == nil && isOrphan && parentID != orphaned {
				orphaned = parentID
				err = r.judgeOrphans(ctx, mode, parentID, orphans)
			}
			if err != nil {
				return nil, err
			}
			if !isOrphan && r.Fits != nil {
				numbers[r.Value(parent, &batch[i])]++
			}
		}
	}
	_, err := reach(math.MaxInt64)
	return slices.DeleteFunc(found, func(f Finding) bool { return f.Count == 0 }), err
}

// judgeOrphans rechecks children whose parent the first pass did not find. The order of the reads
// matters. A sweep purges the children of a deleted parent until its tombstone is clear. If the
// parent is missing and no sweep is still to come, nothing will ever purge the children that are
// left.
func (r Rule[P, K, C]) judgeOrphans(ctx context.Context, mode Mode, parentID int64, orphans *Finding) error {
	if exists, err := r.Parents.IsStored(ctx, parentID); err != nil || exists {
		return err
	}
	deleted, err := r.Parents.Documents.Deleted(ctx, []int64{parentID})
	if err != nil || deleted[parentID] == docstore.Going {
		return err
	}
	var count int64
	if mode == Repair {
		count, err = r.Children.DeleteAll(ctx, r.Under(parentID))
		orphans.Repaired += count
	} else {
		count, err = r.Children.Count(ctx, r.Under(parentID))
	}
	orphans.add(parentID, count)
	return err
}

// judge rechecks a parent together with its children, until no write has changed it meanwhile. It
// leaves out a parent that changes during every look.
func (r Rule[P, K, C]) judge(ctx context.Context, parentID int64, misfits *Finding) error {
	for range maxLooks {
		before, err := r.Parents.Documents.GetMany(ctx, []int64{parentID})
		if err != nil || len(before) == 0 {
			return err
		}
		numbers := Numbers{}
		for batch, err := range r.Children.Batches(ctx,
			docstore.Query{Where: r.Under(parentID), Limit: batchDocuments}) {
			if err != nil {
				return err
			}
			for i := range batch {
				numbers[r.Value(&before[0], &batch[i])]++
			}
		}
		if r.Fits(&before[0], numbers) {
			return nil
		}
		after, err := r.Parents.Documents.GetMany(ctx, []int64{parentID})
		if err != nil {
			return err
		}
		if reflect.DeepEqual(before, after) {
			misfits.add(parentID, 1)
			return nil
		}
	}
	return nil
}

func (f *Finding) add(parentID, count int64) {
	if f.Count += count; count > 0 && len(f.Parents) < maxExamples {
		f.Parents = append(f.Parents, parentID)
	}
}
