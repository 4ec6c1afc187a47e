// Package child keeps the children of parent documents, such as photos or comments.
// Children are separate documents, because their number is unlimited. The parent holds the
// highest id of its children so far, so reading a parent that never had children takes one
// query (rule 14.10).
package child

import (
	"context"
	"errors"
	"reflect"
	"sync"
	"time"

	"github.com/waybook/waybook/internal/arena"
	"github.com/waybook/waybook/internal/content/aliases"
	"github.com/waybook/waybook/internal/content/integrity"
	"github.com/waybook/waybook/internal/content/owned"
	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/id"
	"github.com/waybook/waybook/internal/platform/apierror"
	"github.com/waybook/waybook/internal/platform/smallids"
)

// ByParent orders children by parent and then by id. field holds the parent's id.
func ByParent(field string) docstore.Index1[int64] {
	return docstore.Index1[int64]{Name: "parent", A: field}
}

// Spec declares a collection of children. byRequest is docstore.RequestIndex, with the
// parent's id as its first field.
func Spec(collection string, byParent docstore.Index1[int64], byRequest docstore.Index,
	more ...docstore.Index) docstore.Spec {
	return docstore.Spec{
		Name: collection, ID: docstore.Int64, Sharding: docstore.ByPlace, Scheme: id.Scheme{},
		PlaceFields: []string{byParent.A},
		Indexes:     append([]docstore.Index{byParent.Declare(), byRequest}, more...),
	}
}

// The parts of a document that its children may be.
const (
	Photos   = "photos"
	Comments = "comments"
)

// Set holds the children of type C of parents of type P. Its fields do not change after
// creation. It may be used concurrently.
type Set[P, C any] struct {
	Parents  *owned.Collection[P]
	Children *docstore.Collection[int64, C]
	// IDs generates the children's ids.
	IDs *id.Source
	// Small draws small identifiers instead, unless it is nil.
	Small *smallids.Counter
	// Latest returns the highest id of a child of the parent so far, 0 if it never had one. The
	// field LatestField holds it, and is one of the counters of the parents' collection.
	Latest      func(*P) *int64
	LatestField string
	// Part is Photos or Comments.
	Part string
	// Clock tells when the owner changes the parent by a change of its children; nil if they are
	// not the owner's.
	Clock func() time.Time
	// ByParent orders the children. ParentOf returns the id of a child's parent, and RequestKey
	// the key of the request that created the child.
	ByParent   docstore.Index1[int64]
	ParentOf   func(*C) int64
	RequestKey func(*C) string
	// Etag returns the etag of a child; nil if children have none.
	Etag func(*C) string
	// NoChild returns the error for an unknown id.
	NoChild func(id int64) *apierror.Error

	queue queue
}

// Add stores a child under a parent, which must belong to the user unless actorID is 0.
// precondition reads whether the caller may add any child; it may be nil. A retried request
// returns the child of the first one in its present state. A request id that another request has
// used is refused.
func (s *Set[P, C]) Add(
	ctx context.Context, actorID, parentID int64, request docstore.Request,
	precondition func() error, build func(id int64, requestKey string) C,
) (child C, err error) {
	if precondition != nil {
		if err := precondition(); err != nil {
			return child, err
		}
	}
	began := time.Now()
	child, _, err = docstore.Create(ctx, s.Children, s.draw(ctx, under{parentID, actorID}), request, build)
	return child, s.Parents.TouchAgain(ctx, parentID, began, err)
}

// Remove deletes a child of a parent that still has the etag, unless it is empty. allow may reject
// the removal.
func (s *Set[P, C]) Remove(ctx context.Context, parentID, childID int64, etag string, allow func(*P, *C) error) error {
	return s.remove(ctx, s.Parents.Get, parentID, childID, etag, allow)
}

// RemoveForced deletes a child without a check of its author, also under a parent that readers do
// not see.
func (s *Set[P, C]) RemoveForced(ctx context.Context, parentID, childID int64) error {
	return s.remove(ctx, s.Parents.Stored, parentID, childID, "", func(*P, *C) error { return nil })
}

func (s *Set[P, C]) remove(
	ctx context.Context, get func(context.Context, int64) (P, error), parentID, childID int64, etag string,
	allow func(*P, *C) error,
) error {
	var parent P
	var child C
	var unchanged []docstore.Condition
	err := s.Parents.Together(func() (err error) {
		parent, err = get(ctx, parentID)
		return err
	}, func() (err error) {
		if etag == "" {
			child, err = s.Get(ctx, parentID, childID)
			return err
		}
		stored, err := s.Children.GetStored(ctx, []int64{childID}, docstore.Linearizable)
		if err != nil {
			return err
		}
		if len(stored) == 0 || s.ParentOf(&stored[0].Document) != parentID {
			return s.NoChild(childID)
		}
		child, unchanged = stored[0].Document, []docstore.Condition{stored[0].Unchanged()}
		return nil
	})
	if err != nil {
		return err
	}
	if err := allow(&parent, &child); err != nil {
		return err
	}
	if etag != "" && s.Etag(&child) != etag {
		return owned.Changed()
	}
	if !s.Small.Has(childID) {
		if err := s.removals().Note(ctx, childID); err != nil {
			return err
		}
	}
	began := time.Now()
	if err = s.Parents.Touch(ctx, parentID, s.changed()); err == nil {
		err = s.Children.Delete(ctx, childID, docstore.Deletion{If: unchanged})
	}
	if errors.Is(err, docstore.ErrConflict) {
		err = owned.Changed()
	}
	return s.Parents.TouchAgain(ctx, parentID, began, s.noChild(err, childID))
}

// Get returns a child of a parent.
func (s *Set[P, C]) Get(ctx context.Context, parentID, childID int64) (C, error) {
	child, err := s.Children.Get(ctx, childID)
	if err == nil && s.ParentOf(&child) != parentID {
		err = docstore.ErrNotFound
	}
	return child, s.noChild(err, childID)
}

// Update changes a child of a parent, if the parent belongs to the user and the child still has
// the etag, unless it is empty. If change changes nothing, nothing is written.
func (s *Set[P, C]) Update(ctx context.Context, actorID, parentID, childID int64, etag string,
	change func(*C)) (child C, err error) {
	// Both are read at the same time. The parent is touched before the child is written, because a
	// retry may find the child changed.
	allowed := sync.OnceValue(func() error {
		_, err := s.Parents.GetBy(ctx, actorID, parentID)
		return err
	})
	var began time.Time
	touch := sync.OnceValue(func() error {
		began = time.Now()
		return s.Parents.Touch(ctx, parentID, s.changed())
	})
	err = s.Parents.Together(allowed, func() (err error) {
		child, err = s.Children.Update(ctx, childID, func(child *C) error {
			if err := allowed(); err != nil {
				return err
			}
			if s.ParentOf(child) != parentID {
				return docstore.ErrNotFound
			}
			if etag != "" && s.Etag(child) != etag {
				return owned.Changed()
			}
			before := *child
			if change(child); reflect.DeepEqual(before, *child) {
				return nil
			}
			return touch()
		})
		return s.noChild(err, childID)
	})
	if began.IsZero() {
		return child, err
	}
	return child, s.Parents.TouchAgain(ctx, parentID, began, err)
}

// First returns the first page of a parent's children, for the reply of the call. If it never had
// any, it makes no query.
func (s *Set[P, C]) First(ctx context.Context, parentID int64, parent *P, limit int) (docstore.Page[C], error) {
	if *s.Latest(parent) == 0 {
		return docstore.Page[C]{}, nil
	}
	return s.Children.Page(ctx, docstore.Query{Where: s.ByParent.Is(parentID), Limit: limit, Arena: arena.Of(ctx)})
}

// Page returns a page of a parent's children, for the reply of the call. The parent must exist.
func (s *Set[P, C]) Page(ctx context.Context, parentID int64, limit int, token string) (docstore.Page[C], error) {
	if _, err := s.Parents.Get(ctx, parentID); err != nil {
		return docstore.Page[C]{}, err
	}
	return s.Children.Page(ctx, docstore.Query{
		Where: s.ByParent.Is(parentID), Token: token, Limit: limit, As: docstore.Listed, Arena: arena.Of(ctx),
	})
}

// RemoveAll deletes all children of a deleted parent.
func (s *Set[P, C]) RemoveAll(ctx context.Context, parentID int64) error {
	_, err := s.Children.DeleteAll(ctx, s.ByParent.Is(parentID))
	return err
}

// Constraint returns the constraint for operators to check: no child outlives its parent.
func (s *Set[P, C]) Constraint() integrity.Constraint {
	return integrity.Rule[P, int64, C]{
		Parents: s.Parents, Children: s.Children, Under: s.ByParent.Is, ParentOf: s.ParentOf,
	}.Constraint()
}

// removals are the children that were moved in and that users have removed.
func (s *Set[P, C]) removals() aliases.Removals { return s.Parents.Aliases.Removals(s.Part) }

// Removed returns which of some identifiers are of children that were moved in and that users have
// removed. The identifiers are of none that is stored, because a removal may fail after its note.
func (s *Set[P, C]) Removed(ctx context.Context, ids []int64) (map[int64]bool, error) {
	return s.removals().Among(ctx, ids)
}

// changed returns the fields of a parent that a change of its children sets.
func (s *Set[P, C]) changed() map[string]any {
	if s.Clock == nil {
		return nil
	}
	return owned.ChangedAt(s.Clock())
}

func (s *Set[P, C]) noChild(err error, id int64) error {
	if errors.Is(err, docstore.ErrNotFound) {
		return s.NoChild(id)
	}
	return err
}
