package choices

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/waybook/waybook/internal/content/integrity"
	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/pause"
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

// Mark is a parent's record of the choices that it counted last.
type Mark struct {
	// Count grows by one with each change of the numbers.
	Count int64 `bson:"count"`
	// Group are the choices that the last change counted. A parent that has counted nothing since
	// its last tidying has none.
	Group []Counted `bson:"group,omitempty"`
}

// Counted is the counted value of a choice.
type Counted struct {
	ChoiceID int64 `bson:"choice_id"`
	Value    int32 `bson:"value"`
}

// maxGroup bounds the choices that one change of a parent counts. A member takes some 40
// bytes in the parent.
const maxGroup = 256

// smallGroup is the size up to which a settled group may stay in its parent.
const smallGroup = 8

// valueOf returns the counted value of a choice under a parent with this mark. isUnsettled
// reports that the choice does not hold this value yet; at is the CountedAt to settle it
// with.
func (m *Mark) valueOf(choice *Choice) (value int32, at int64, isUnsettled bool) {
	if choice.CountedAt < m.Count {
		for _, each := range m.Group {
			if each.ChoiceID == choice.ID {
				return each.Value, m.Count, true
			}
		}
	}
	return choice.Counted, choice.CountedAt, false
}

// members returns the ids of the choices that the mark names.
func (m *Mark) members() []int64 {
	ids := make([]int64, len(m.Group))
	for i, each := range m.Group {
		ids[i] = each.ChoiceID
	}
	return ids
}

// advance replaces the settled group of a mark by another.
func (m *Mark) advance(group []Counted) { *m = Mark{Count: m.Count + 1, Group: group} }

// clear removes a settled group.
func (m *Mark) clear() { m.Group = nil }

const (
	// sweepTimeout bounds a sweep. The next one goes on at the parent where this one stopped.
	sweepTimeout = time.Minute
	// sweepGroups is how many groups of one parent a sweep counts at most.
	sweepGroups = 100
)

// Sweep counts and settles all pending choices, such as those whose callers crashed. It
// continues after a parent that fails, and returns the first failure.
func (c *Counter[P]) Sweep(ctx context.Context) error {
	limited, cancel := context.WithTimeout(ctx, sweepTimeout)
	defer cancel()
	var first error
	for from := c.swept.Load(); ; c.swept.Store(from) {
		choice, err := c.Choices.Find(limited, byPending().In(Pending, docstore.From(from)).Everywhere())
		if errors.Is(err, docstore.ErrNotFound) {
			c.swept.Store(0)
			return first
		}
		if err == nil {
			err = c.tidy(limited, choice.ParentID)
		}
		switch {
		case limited.Err() != nil:
			return errors.Join(first, ctx.Err())
		case choice.ID == 0:
			return errors.Join(first, err)
		case err != nil && first == nil:
			first = fmt.Errorf("count %s under %d: %w", c.Choices.Name(), choice.ParentID, err)
		}
		from = choice.ParentID + 1
	}
}

// tidy counts and settles the pending choices of a parent, and removes a large group from
// it. It does nothing if the parent is deleted.
func (c *Counter[P]) tidy(ctx context.Context, parentID int64) error {
	for range sweepGroups {
		_, _, err := c.countGroup(ctx, parentID, func(ctx context.Context, parent *P) error {
			if err := c.settle(ctx, parent); err != nil {
				return err
			}
			if len(c.Mark(parent).members()) <= smallGroup {
				return errNothing
			}
			c.Mark(parent).clear()
			return nil
		})
		if errors.Is(err, errNothing) {
			return nil
		}
		if err != nil {
			if exists, failure := c.Parents.Documents.Exists(ctx, parentID); failure == nil && !exists {
				return nil
			}
			return err
		}
	}
	return nil
}

// patience is how long a check waits before it reports a choice as uncounted. A call counts
// its choice sooner.
const patience = 5 * time.Second

// Constraint returns the constraint for operators to check: no choice outlives its parent,
// the numbers match the counted values, and every wanted value is counted. A wrong number is
// not repaired, because the choices may be wrong instead.
func (c *Counter[P]) Constraint() integrity.Constraint {
	return integrity.Rule[P, Choice]{
		Parents: c.Parents, Children: c.Choices, Under: byUser().First,
		ParentOf: func(choice *Choice) int64 { return choice.ParentID },
		Value:    c.valueOf,
		Kind:     integrity.WrongTally,
		Fits: func(parent *P, there integrity.Numbers) bool {
			numbers := c.Numbers(parent)
			for i, number := range numbers {
				if there[int32(i)+1] != number {
					return false
				}
			}
			for value := range there {
				if value < None || int(value) > len(numbers) {
					return false
				}
			}
			return true
		},
		Uncounted: &integrity.Uncounted[P, Choice]{
			Is:     func(parent *P, choice *Choice) bool { return c.valueOf(parent, choice) != choice.Wanted },
			ID:     func(choice *Choice) int64 { return choice.ID },
			IsSame: func(before, after *Choice) bool { return *before == *after },
			Wait:   c.wait,
			Count:  c.recount,
		},
	}.Constraint()
}

// valueOf returns the counted value of a choice.
func (c *Counter[P]) valueOf(parent *P, choice *Choice) int32 {
	if c.Numbers(parent) == nil {
		return choice.Counted
	}
	value, _, _ := c.Mark(parent).valueOf(choice)
	return value
}

// recount counts choices that nothing else would count.
func (c *Counter[P]) recount(ctx context.Context, parentID int64, ids []int64) error {
	err := c.Choices.UpdateMany(ctx, ids, func(choice *Choice) bool {
		isNew := choice.Pending != Pending
		choice.Pending = Pending
		return isNew
	})
	if err != nil {
		return err
	}
	return c.tidy(ctx, parentID)
}

func (c *Counter[P]) wait(ctx context.Context) error {
	if c.Patience != nil {
		return c.Patience(ctx)
	}
	return pause.For(ctx, patience)
}
