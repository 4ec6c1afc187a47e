package choices

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/id"
)

// Moved is a user's choice that is moved in from an old service.
type Moved struct {
	ParentID, UserID int64
	// Value is not None.
	Value int32
}

// movedBatch is how many choices are read at a time.
const movedBatch = 1000

// movedID returns the identifier of a choice that is moved in. It follows from the parent and the
// user, so that a repeated move stores the same documents.
func movedID(parentID, userID int64, probe int) int64 {
	return id.OfOldText(fmt.Sprint(parentID, ":", userID), id.PlaceOf(parentID), probe%id.Probes)
}

// StoreCounted stores choices, at most one of each user under a parent, under parents that are not
// stored yet. They are settled; the caller counts them in the parents. A choice that an
// interrupted move has left gets the present value.
func (c *Counter[P]) StoreCounted(ctx context.Context, moved []Moved) error {
	for probe := 0; len(moved) > 0; probe++ {
		if probe == id.Probes {
			return fmt.Errorf("all identifiers of %d choices are taken", len(moved))
		}
		choices := make([]Choice, len(moved))
		for i, m := range moved {
			choices[i] = Choice{
				ID: movedID(m.ParentID, m.UserID, probe), ParentID: m.ParentID, UserID: m.UserID,
				Wanted: m.Value, Counted: m.Value, Pending: Settled,
			}
		}
		slices.SortFunc(choices, func(a, b Choice) int { return cmp.Compare(a.ID, b.ID) })
		taken, err := c.Choices.InsertNew(ctx, choices)
		if err != nil {
			return err
		}
		moved = moved[:0:0]
		for _, i := range taken {
			isThere, err := c.recountOne(ctx, choices[i])
			if err != nil {
				return err
			}
			if !isThere {
				moved = append(moved, Moved{choices[i].ParentID, choices[i].UserID, choices[i].Wanted})
			}
		}
	}
	return nil
}

// recountOne gives the stored choice of the same user the value of another. It reports false if
// there is none.
func (c *Counter[P]) recountOne(ctx context.Context, choice Choice) (isThere bool, err error) {
	stored, err := c.Choices.Find(ctx, byUser().Is(choice.ParentID, choice.UserID))
	if errors.Is(err, docstore.ErrNotFound) {
		return false, nil
	}
	if err != nil || stored.Counted == choice.Counted && stored.Wanted == choice.Wanted && stored.Pending == Settled {
		return true, err
	}
	_, err = c.Choices.Update(ctx, stored.ID, func(stored *Choice) error {
		stored.Wanted, stored.Counted, stored.Pending = choice.Wanted, choice.Counted, Settled
		return nil
	})
	return true, err
}

// PutMoved is Put for a value that is moved in, or None for one that is gone.
func (c *Counter[P]) PutMoved(ctx context.Context, moved Moved) (P, error) {
	return c.put(ctx, moved.ParentID, moved.UserID, Always(moved.Value), func(taken int) int64 {
		return movedID(moved.ParentID, moved.UserID, taken)
	})
}

// Under returns all choices under a parent.
func (c *Counter[P]) Under(ctx context.Context, parentID int64) (all []Choice, err error) {
	for batch, err := range c.Choices.Batches(ctx, docstore.Query{Where: byUser().First(parentID), Limit: movedBatch}) {
		if err != nil {
			return nil, err
		}
		all = append(all, batch...)
	}
	return all, nil
}

// Drop deletes a choice under a parent that is not stored.
func (c *Counter[P]) Drop(ctx context.Context, choiceID int64) error {
	if err := c.Choices.Delete(ctx, choiceID); !errors.Is(err, docstore.ErrNotFound) {
		return err
	}
	return nil
}
