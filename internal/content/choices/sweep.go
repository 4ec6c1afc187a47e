package choices

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/waybook/waybook/internal/docstore"
)

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
