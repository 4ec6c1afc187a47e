package choices

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/waybook/waybook/internal/docstore"
)

// Moved is a user's choice that is moved in from an old service.
type Moved struct {
	ParentID, UserID int64
	// Value is not None.
	Value int32
}

// movedBatch is how many choices are read at a time.
const movedBatch = 1000

// errSame ends an update of a choice that is as it should be.
var errSame = errors.New("the choice is the same")

// StoreCounted stores choices, at most one of each user under a parent, under parents that are not
// stored yet. They are settled; the caller counts them in the parents. A choice that an
// interrupted move has left gets the present value.
func (c *Counter[P]) StoreCounted(ctx context.Context, moved []Moved) error {
	choices := make([]Choice, len(moved))
	for i, m := range moved {
		choices[i] = Choice{
			ID: IDOf(m.ParentID, m.UserID), ParentID: m.ParentID, Wanted: m.Value, Counted: m.Value, Pending: Settled, IsMoved: true,
		}
	}
	slices.SortFunc(choices, func(a, b Choice) int { return cmp.Compare(a.ID, b.ID) })
	taken, err := c.Choices.InsertNew(ctx, choices)
	if err != nil {
		return err
	}
	for _, i := range taken {
		_, err := c.Choices.Update(ctx, choices[i].ID, func(stored *Choice) error {
			if *stored == choices[i] {
				return errSame
			}
			*stored = choices[i]
			return nil
		})
		if err != nil && !errors.Is(err, errSame) {
			return err
		}
	}
	return nil
}

// PutMoved is Put for a value that is moved in, or None for one that is gone.
func (c *Counter[P]) PutMoved(ctx context.Context, moved Moved) error {
	_, err := c.put(ctx, moved.ParentID, &call[P]{
		choiceID: IDOf(moved.ParentID, moved.UserID), decide: Always[P](moved.Value), isMoved: true,
	})
	return err
}

// Under returns all choices under a parent.
func (c *Counter[P]) Under(ctx context.Context, parentID int64) (all []Choice, err error) {
	for batch, err := range c.Choices.Batches(ctx, docstore.Query{Where: allUnder(parentID), Limit: movedBatch}) {
		if err != nil {
			return nil, err
		}
		all = append(all, batch...)
	}
	return all, nil
}

// Drop deletes a choice under a parent that is not stored.
func (c *Counter[P]) Drop(ctx context.Context, id string) error {
	if err := c.Choices.Delete(ctx, id); !errors.Is(err, docstore.ErrNotFound) {
		return err
	}
	return nil
}
