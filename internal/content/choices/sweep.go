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
// continues after a failure and returns the first one.
func (c *Counter[P]) Sweep(ctx context.Context) error {
	limited, cancel := context.WithTimeout(ctx, sweepTimeout)
	defer cancel()
	var first error
	failed := 0
	for from := c.swept.Load(); ; c.swept.Store(from) {
		choice, err := c.Choices.Find(limited, byPending().In(Pending, docstore.From(from)))
		if errors.Is(err, docstore.ErrNotFound) {
			c.swept.Store(0)
			break
		}
		if err != nil {
			first = errors.Join(first, err)
			break
		}
		err = c.tidy(limited, choice.ParentID)
		if limited.Err() != nil {
			break
		}
		if err != nil {
			failed++
			if first == nil {
				first = fmt.Errorf("under %d: %w", choice.ParentID, err)
			}
		}
		from = choice.ParentID + 1
	}
	if first != nil {
		return fmt.Errorf("%s of %d parents are not counted; the first failed with: %w", c.Choices.Name(), failed, first)
	}
	return ctx.Err()
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
