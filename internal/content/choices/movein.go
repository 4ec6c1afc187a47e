package choices

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/waybook/waybook/internal/chance"
	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/pause"
)

// MovedIn is a choice of a user of an old service, under a stored parent. Value is not None.
type MovedIn struct {
	ParentID, UserID int64
	Value            int32
}

const (
	// countBatch is how many choices are read at a time, and countsAtOnce how many parents are counted at the same time.
	countBatch   = 1000
	countsAtOnce = 16
)

// Insert stores those choices of an old service that are not there, at most one of each user under a parent, and returns
// the others by id, as they are stored. The parents' numbers are counted anew, so a repeated call completes one that
// failed. With isDry, nothing is stored. No failure undoes what it returns. If users choose under the same parents while
// a primary falls, the numbers may miss a choice, until another call counts them.
func (c *Counter[P]) Insert(ctx context.Context, moved []MovedIn, isDry bool) (there map[string]Choice, err error) {
	ids, parents := make([]string, len(moved)), make([]int64, len(moved))
	for i, m := range moved {
		ids[i], parents[i] = IDOf(m.ParentID, m.UserID), m.ParentID
	}
	stored, err := c.Choices.GetDurable(ctx, ids)
	if err != nil {
		return nil, err
	}
	there = make(map[string]Choice, len(moved))
	for _, each := range stored {
		there[each.Document.ID] = each.Document
	}
	if isDry {
		return there, nil
	}
	var missing []Choice
	for i, m := range moved {
		if _, isThere := there[ids[i]]; !isThere {
			missing = append(missing, Choice{
				ID: ids[i], ParentID: m.ParentID, Wanted: m.Value, Counted: m.Value, Pending: Settled, Moved: m.Value,
			})
		}
	}
	slices.SortFunc(missing, func(a, b Choice) int { return cmp.Compare(a.ID, b.ID) })
	taken, err := c.Choices.InsertNew(ctx, missing)
	if err != nil {
		return nil, err
	}
	for _, i := range taken { // another call has stored them, or an earlier one a moment ago
		found, err := c.Choices.GetLinearizable(ctx, missing[i].ID)
		if err != nil && !errors.Is(err, docstore.ErrNotFound) {
			return nil, err
		}
		there[missing[i].ID] = found
	}
	slices.Sort(parents)
	return there, c.recount(ctx, slices.Compact(parents))
}

// numbers are those of the choices under a parent, by value.
type numbers struct{ counted, moved map[int32]int64 }

// recount makes the numbers of parents those of the choices that are stored. Choices that are pending count with the
// value that is counted; a call that counts them at the same time finds that the parent has changed.
func (c *Counter[P]) recount(ctx context.Context, parentIDs []int64) error {
	for try := range maxTries {
		if err := pause.For(ctx, chance.Below(time.Duration(try)*time.Millisecond+1)); err != nil {
			return err
		}
		parents, err := c.Parents.Documents.GetDurable(ctx, parentIDs)
		if err != nil {
			return err
		}
		counted := make([]numbers, len(parents))
		counting, within := errgroup.WithContext(ctx)
		counting.SetLimit(countsAtOnce)
		for i := range parents {
			counting.Go(func() (err error) {
				counted[i], err = c.numbersUnder(within, &parents[i].Document)
				return err
			})
		}
		if err := counting.Wait(); err != nil {
			return err
		}
		byID := make(map[int64]numbers, len(parents))
		for i := range parents {
			byID[c.Parents.ID(&parents[i].Document)] = counted[i]
		}
		err = c.Parents.Documents.UpdateManyFrom(ctx, parents, func(parent *P) bool { return c.setNumbers(parent, byID[c.Parents.ID(parent)]) })
		if !errors.Is(err, docstore.ErrConflict) {
			return err
		}
	}
	return fmt.Errorf("count %s: %w", c.Choices.Name(), docstore.ErrConflict)
}

func (c *Counter[P]) numbersUnder(ctx context.Context, parent *P) (numbers, error) {
	found := numbers{map[int32]int64{}, map[int32]int64{}}
	if c.Numbers(parent) == nil {
		return found, nil
	}
	mark := c.Mark(parent)
	query := docstore.Query{Where: allUnder(c.Parents.ID(parent)), Limit: countBatch, As: docstore.Durable}
	for batch, err := range c.Choices.Batches(ctx, query) {
		if err != nil {
			return numbers{}, err
		}
		for i := range batch {
			value, _ := mark.valueOf(&batch[i])
			found.counted[value]++
			found.moved[batch[i].Moved]++
		}
	}
	return found, nil
}

// setNumbers gives a parent its numbers, and reports whether they have changed. What an old service showed and did not
// name the users of is what remains of its number.
func (c *Counter[P]) setNumbers(parent *P, found numbers) (isChanged bool) {
	for i, number := range c.Numbers(parent) {
		value := int32(i) + 1 // #nosec G115 -- a vote has few choices
		if by := found.counted[value] - number; by != 0 {
			c.Add(parent, value, by)
			isChanged = true
		}
		moved, unnamed := c.Unnamed(parent, value)
		if rest := max(0, moved-found.moved[value]); *unnamed != rest {
			*unnamed, isChanged = rest, true
		}
	}
	return isChanged
}
