package choices

import (
	"context"
	"errors"

	"github.com/waybook/waybook/internal/docstore"
)

// errNothing ends an update of a parent for which there is nothing to do.
var errNothing = errors.New("nothing is pending")

// countAll counts the pending choices of a parent and returns it. What it returns is durable.
func (c *Counter[P]) countAll(ctx context.Context, parentID int64) (P, error) {
	for {
		parent, more, err := c.countGroup(ctx, parentID, func(context.Context, *P) error { return errNothing })
		if errors.Is(err, errNothing) {
			return c.Parents.GetLinearizable(ctx, parentID)
		}
		if err != nil || !more {
			return parent, err
		}
	}
}

// countGroup counts a group of pending choices with one change of their parent. more reports
// that others are pending. If none is pending, countGroup calls idle, whose error it returns,
// or writes the parent as idle has changed it.
func (c *Counter[P]) countGroup(ctx context.Context, parentID int64, idle func(context.Context, *P) error) (_ P, more bool, _ error) {
	parent, err := c.Parents.Update(ctx, parentID, func(parent *P) error {
		// The choices are read after the parent. If another call counts or settles one in
		// between, the parent has changed, and this write fails.
		if c.Numbers(parent) == nil {
			return errNothing
		}
		var group []Counted
		var err error
		if group, more, err = c.countPending(ctx, parentID, parent); err != nil {
			return err
		}
		if len(group) == 0 {
			return idle(ctx, parent)
		}
		if err := c.settle(ctx, parent); err != nil {
			return err
		}
		c.Mark(parent).advance(group)
		return nil
	})
	return parent, more, err
}

// countPending adds pending choices to a parent's numbers and returns them as a group. It
// leaves out the choices that only have to be settled.
func (c *Counter[P]) countPending(ctx context.Context, parentID int64, parent *P) (group []Counted, more bool, err error) {
	mark, highest := c.Mark(parent), int32(len(c.Numbers(parent)))
	page, err := c.Choices.Page(ctx, docstore.Query{
		Where: byPending().Is(Pending, parentID), Limit: len(mark.members()) + maxGroup,
	})
	if err != nil {
		return nil, false, err
	}
	for i := range page.Documents {
		choice := &page.Documents[i]
		before, _, isUnsettled := mark.valueOf(choice)
		if isUnsettled && before == choice.Wanted || min(before, choice.Wanted) < None || max(before, choice.Wanted) > highest {
			continue
		}
		if len(group) == maxGroup {
			return group, true, nil
		}
		if before != None {
			c.Add(parent, before, -1)
		}
		if choice.Wanted != None {
			c.Add(parent, choice.Wanted, 1)
		}
		group = append(group, Counted{ChoiceID: choice.ID, Value: choice.Wanted})
	}
	return group, page.Next != "", nil
}

// settle copies the counted values from a parent's mark to the choices that it names. It
// skips a choice that was settled with this mark or a later one.
func (c *Counter[P]) settle(ctx context.Context, parent *P) error {
	mark := c.Mark(parent)
	members := mark.members()
	if len(members) == 0 {
		return nil
	}
	return c.Choices.UpdateMany(ctx, members, func(choice *Choice) bool {
		value, at, isUnsettled := mark.valueOf(choice)
		if !isUnsettled {
			return false
		}
		choice.Counted, choice.CountedAt, choice.Pending = value, at, Pending
		if choice.Wanted == value {
			choice.Pending = Settled
		}
		return true
	})
}
