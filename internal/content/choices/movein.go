package choices

import (
	"context"

	"golang.org/x/sync/errgroup"
)

// MovedIn is a choice of a user of an old service, under a stored parent. Value is not None.
type MovedIn struct {
	ParentID, UserID int64
	Value            int32
}

// Insert stores those choices of an old service that are not there, at most one of each user under a parent, and counts
// them. It returns the others by id, as they are stored. With isDry, nothing is stored. No failure undoes what it returns.
func (c *Counter[P]) Insert(ctx context.Context, moved []MovedIn, isDry bool) (there map[string]Choice, err error) {
	ids := make([]string, len(moved))
	for i, m := range moved {
		ids[i] = IDOf(m.ParentID, m.UserID)
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
	calls := make([]*call[P], len(moved))
	counting, within := errgroup.WithContext(ctx)
	for i, m := range moved {
		if stored, isThere := there[ids[i]]; isThere && stored.Pending == Settled {
			continue
		}
		calls[i] = &call[P]{choiceID: ids[i], moved: m.Value, decide: func(_ *P, present int32) (int32, error) { return present, nil }}
		counting.Go(func() error {
			_, err := c.put(within, m.ParentID, calls[i])
			return err
		})
	}
	if err := counting.Wait(); err != nil {
		return nil, err
	}
	for i, each := range calls {
		if each != nil && each.there.ID != "" {
			there[ids[i]] = each.there
		}
	}
	return there, nil
}
