package choices

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/pause"
)

const (
	// batch is how many choices are read at a time.
	batch = 1000
	// maxMarked bounds the marked choices that one sweep looks at.
	maxMarked = 10_000
)

// Sweep counts the choices whose calls have ended before they did. It continues after a parent
// that fails, and returns all failures.
func (c *Counter[P]) Sweep(ctx context.Context) error {
	before, err := c.marked(ctx, byMark().Is(Marked).Everywhere())
	if err != nil || len(before) == 0 {
		return err
	}
	if err := pause.For(ctx, c.Patience); err != nil {
		return err
	}
	after, err := c.marked(ctx, byMark().Is(Marked).Everywhere())
	if err != nil {
		return err
	}
	left := map[int64][]Choice{}
	for id, choice := range after {
		if before[id] == choice {
			left[choice.ParentID] = append(left[choice.ParentID], choice)
		}
	}
	var failed []error
	for _, parentID := range slices.Sorted(maps.Keys(left)) {
		failed = append(failed, c.finish(ctx, parentID, left[parentID]))
	}
	return errors.Join(failed...)
}

// marked returns choices of a selection of marked ones, by their ids.
func (c *Counter[P]) marked(ctx context.Context, where docstore.Where) (map[string]Choice, error) {
	found := map[string]Choice{}
	for some, err := range c.Choices.Batches(ctx, docstore.Query{Where: where, Limit: batch, Most: maxMarked}) {
		if err != nil {
			return nil, err
		}
		for _, choice := range some {
			found[choice.ID] = choice
		}
	}
	return found, nil
}

// finish counts marked choices of a parent whose calls have ended. A deleted parent is left to the
// sweep of the deleted.
func (c *Counter[P]) finish(ctx context.Context, parentID int64, left []Choice) error {
	parent, err := c.Parents.Documents.Get(ctx, parentID, docstore.Linearizable)
	round := *c.Round(&parent)
	mustRecount := round%2 == 1
	for _, choice := range left {
		// A mark that is taken before the parent is counted shows that this is to be done until it
		// is.
		if err == nil && choice.mayBeCounted(round) {
			choice, err = c.take(ctx, choice.ID, odd(round))
			mustRecount = mustRecount || choice.Mark == Marked
		}
	}
	if err == nil && mustRecount {
		round, err = c.Recount(ctx, parentID)
	}
	if errors.Is(err, docstore.ErrNotFound) || errors.Is(err, errOvertaken) {
		return nil
	}
	if err != nil {
		return err
	}
	waiting, err := c.marked(ctx, under(byMark().Is(Marked), parentID))
	for _, choice := range waiting {
		if err == nil && !choice.mayBeCounted(round) {
			_, err = c.put(ctx, parentID, choice.UserID(),
				func(_ *P, present int32) (int32, error) { return present, nil })
		}
	}
	return err
}

// odd returns the next round in which nothing is added.
func odd(round int64) int64 { return round + 1 + round%2 }

// errOvertaken reports that another process has begun to count a parent.
var errOvertaken = errors.New("another process counts the choices")

// Recount makes the numbers of a parent those of the choices under it, without the marked ones,
// and returns the parent's round after that. Calls may go on meanwhile. Errors:
// docstore.ErrNotFound.
func (c *Counter[P]) Recount(ctx context.Context, parentID int64) (round int64, err error) {
	parent, err := c.Parents.Documents.Update(ctx, parentID, func(parent *P) error {
		*c.Round(parent) = odd(*c.Round(parent))
		return nil
	})
	if err != nil {
		return 0, err
	}
	round = *c.Round(&parent)
	counts, moved := map[int32]int64{}, map[int32]int64{}
	// It sees whatever was stored before the round began.
	query := docstore.Query{Where: allUnder(parentID), Limit: batch, As: docstore.Linearizable}
	for some, err := range c.Choices.Batches(ctx, query) {
		if err != nil {
			return 0, err
		}
		for _, choice := range some {
			if choice.Mark == Marked {
				if choice, err = c.take(ctx, choice.ID, round); err != nil {
					return 0, err
				}
			}
			counts[choice.Counted]++
			moved[choice.Moved]++
		}
	}
	_, err = c.Parents.Documents.Update(ctx, parentID, func(parent *P) error {
		if *c.Round(parent) != round {
			return errOvertaken
		}
		for i, number := range c.Numbers(parent) {
			*number.Count, *number.Moved = counts[int32(i)+1], moved[int32(i)+1]
		}
		*c.Round(parent)++
		return nil
	})
	return round + 1, err
}

// take gives the mark of a choice another round, so that no call removes it.
func (c *Counter[P]) take(ctx context.Context, id string, round int64) (Choice, error) {
	return c.Choices.Update(ctx, id, func(choice *Choice) error {
		if choice.Mark == Marked && choice.Round < round {
			choice.Round = round
		}
		return nil
	})
}
