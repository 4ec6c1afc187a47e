package child

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/waybook/waybook/internal/content/aliases"
	"github.com/waybook/waybook/internal/docstore"
)

// Moved tells how children that are moved in from an old service are stored. Its fields do not
// change after creation.
type Moved[C any] struct {
	// Field is the field of a record that holds the children, for messages.
	Field string
	// Identify gives a child its identifier, its parent and its request key.
	Identify func(child *C, id, parentID int64, requestKey string)
	// ID returns what Identify has set.
	ID func(*C) int64
	// IsSame reports whether two children have the same content. Take gives a child the content
	// of another.
	IsSame func(a, b *C) bool
	Take   func(stored, from *C)
}

// Present returns those children that are stored, by id.
func (s *Set[P, C]) Present(ctx context.Context, ids []int64, of Moved[C]) (map[int64]C, error) {
	present := make(map[int64]C, len(ids))
	if len(ids) == 0 {
		return present, nil
	}
	found, err := s.Children.GetMany(ctx, ids)
	if err != nil {
		return nil, err
	}
	for _, each := range found {
		present[of.ID(&each)] = each
	}
	return present, nil
}

// Store stores children with their ids, in the order of the ids, and returns those that were there.
// Their parent's highest id is raised by Raise before, or is stored with the parent after.
func (s *Set[P, C]) Store(ctx context.Context, children []C, of Moved[C]) (present []C, err error) {
	children = slices.Clone(children)
	slices.SortFunc(children, func(a, b C) int { return cmp.Compare(of.ID(&a), of.ID(&b)) })
	taken, err := s.Children.InsertNew(ctx, children)
	if err != nil {
		return nil, err
	}
	for _, i := range taken {
		present = append(present, children[i])
	}
	return present, nil
}

// Rewrite gives stored children the content of others with their ids.
func (s *Set[P, C]) Rewrite(ctx context.Context, children []C, of Moved[C]) error {
	for i := range children {
		_, err := s.Children.Update(ctx, of.ID(&children[i]), func(stored *C) error {
			of.Take(stored, &children[i])
			return nil
		})
		if err != nil && !errors.Is(err, docstore.ErrNotFound) {
			return err
		}
	}
	return nil
}

// movedBatch is how many children are read at a time.
const movedBatch = 1000

// Those returns the ids of the children of a parent that is accepts.
func (s *Set[P, C]) Those(ctx context.Context, parentID int64, is func(id int64) bool, of Moved[C]) (ids []int64, err error) {
	for batch, err := range s.Children.Batches(ctx, docstore.Query{Where: s.ByParent.Is(parentID), Limit: movedBatch}) {
		if err != nil {
			return nil, err
		}
		for i := range batch {
			if id := of.ID(&batch[i]); is(id) {
				ids = append(ids, id)
			}
		}
	}
	return ids, nil
}

// removals are the children that were moved in and that users have removed.
func (s *Set[P, C]) removals() aliases.Removals { return s.Parents.Aliases.Removals(s.Part) }

// Removed returns which of some identifiers are of children that were moved in and that users have removed. The
// identifiers are of none that is stored, because a removal may fail after its note.
func (s *Set[P, C]) Removed(ctx context.Context, ids []int64) (map[int64]bool, error) {
	return s.removals().Among(ctx, ids)
}

// Restore is Store, and forgets that users have removed some of the children.
func (s *Set[P, C]) Restore(ctx context.Context, children []C, removed []int64, of Moved[C]) error {
	if _, err := s.Store(ctx, children, of); err != nil {
		return err
	}
	for _, each := range removed {
		if err := s.removals().Forget(ctx, each); err != nil {
			return err
		}
	}
	return nil
}

// Drop deletes children that no user has removed. So it forgets the notes of removals that failed.
func (s *Set[P, C]) Drop(ctx context.Context, ids []int64) error {
	for _, id := range ids {
		err := s.Children.Delete(ctx, id)
		if err == nil {
			err = s.removals().Forget(ctx, id)
		}
		if err != nil && !errors.Is(err, docstore.ErrNotFound) {
			return err
		}
	}
	return nil
}

// Raise raises the highest id of a parent's children so far, unless it is higher, and tells followers
// that the children change.
func (s *Set[P, C]) Raise(ctx context.Context, parentID, latest int64) error {
	_, err := s.Parents.RaiseBy(ctx, 0, parentID, docstore.Amount{Field: s.LatestField, By: latest}, nil)
	return err
}

// Highest returns the highest id of a parent's children in the store, 0 if there is none.
func (s *Set[P, C]) Highest(ctx context.Context, parentID int64, of Moved[C]) (int64, error) {
	page, err := s.Children.Page(ctx, docstore.Query{Where: s.ByParent.Is(parentID), Descending: true, Limit: 1})
	if err != nil || len(page.Documents) == 0 {
		return 0, err
	}
	return of.ID(&page.Documents[0]), nil
}
