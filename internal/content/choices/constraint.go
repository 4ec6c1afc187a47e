package choices

import (
	"context"
	"time"

	"github.com/waybook/waybook/internal/content/integrity"
	"github.com/waybook/waybook/internal/pause"
)

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
