package choices

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/waybook/waybook/internal/chance"
	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/pause"
)

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
	ChoiceID string `bson:"choice_id"`
	Value    int32  `bson:"value"`
}

const (
	// maxGroup bounds the choices that one change of a parent counts. A member takes some 70
	// bytes in the parent.
	maxGroup = 256
	// smallGroup is the size up to which a settled group may stay in its parent.
	smallGroup = 8
	// maxTries bounds how often a count starts again because others were faster.
	maxTries = 100
)

// valueOf returns the counted value of a choice under a parent with this mark. isUnsettled
// reports that the choice does not hold this value yet.
func (m *Mark) valueOf(choice *Choice) (value int32, isUnsettled bool) {
	if choice.CountedAt < m.Count {
		for _, each := range m.Group {
			if each.ChoiceID == choice.ID {
				return each.Value, true
			}
		}
	}
	return choice.Counted, false
}

// settle copies the counted value from the mark to a choice that it names. It reports whether the choice
// has changed.
func (m *Mark) settle(choice *Choice) bool {
	value, isUnsettled := m.valueOf(choice)
	if isUnsettled {
		choice.Counted, choice.CountedAt, choice.Pending = value, m.Count, Pending
		if choice.Wanted == value {
			choice.Pending = Settled
		}
	}
	return isUnsettled
}

// count decides the calls of a batch, counts their choices and returns the parent. No failure undoes what it
// returns. Of a batch without calls it settles what the parent has counted last.
func (c *Counter[P]) count(ctx context.Context, parentID int64, batch []*call[P]) (P, error) {
	var none P
	for try := range maxTries {
		if err := pause.For(ctx, chance.Below(time.Duration(try)*time.Millisecond+1)); err != nil {
			return none, err
		}
		parent, err := c.Parents.GetStored(ctx, parentID)
		if err != nil {
			return none, err
		}
		stored, err := c.store(ctx, &parent[0].Document, batch)
		var counted P
		isChanged := false
		if err == nil {
			err = c.Parents.Documents.UpdateFrom(ctx, parent, func(parent *P) bool {
				isChanged = c.add(parent, stored)
				counted = *parent
				return isChanged
			})
		}
		if err == nil && !isChanged {
			counted, err = c.Parents.GetLinearizable(ctx, parentID)
		}
		if err == nil {
			err = c.confirm(ctx, stored)
		}
		if !errors.Is(err, docstore.ErrConflict) && !errors.Is(err, docstore.ErrNotFound) {
			return counted, err
		}
	}
	return none, fmt.Errorf("count %s under %d: %w", c.Choices.Name(), parentID, docstore.ErrConflict)
}

// store settles the choices that a parent has counted last, and stores the choices of a batch as its calls
// decide. It returns those: the choices that are pending have been written after the parent was read.
// Errors: ErrConflict if one has changed since it was read.
func (c *Counter[P]) store(ctx context.Context, parent *P, batch []*call[P]) (stored map[string]Choice, err error) {
	mark := &Mark{}
	if c.Numbers(parent) != nil {
		mark = c.Mark(parent)
	}
	calls := make(map[string][]*call[P], len(batch))
	ids := make([]string, 0, len(batch)+len(mark.Group))
	for _, each := range batch {
		if calls[each.choiceID] == nil {
			ids = append(ids, each.choiceID)
		}
		calls[each.choiceID] = append(calls[each.choiceID], each)
	}
	for _, each := range mark.Group {
		if calls[each.ChoiceID] == nil {
			ids = append(ids, each.ChoiceID)
		}
	}
	read, err := c.Choices.GetStored(ctx, ids)
	if err != nil {
		return nil, err
	}
	stored = make(map[string]Choice, len(ids))
	if err := c.Choices.UpdateFrom(ctx, read, func(choice *Choice) bool {
		isChanged := mark.settle(choice)
		for _, each := range calls[choice.ID] {
			isChanged = each.change(parent, choice) || isChanged
		}
		stored[choice.ID] = *choice
		return isChanged || calls[choice.ID] != nil && choice.Pending == Pending
	}); err != nil {
		return nil, err
	}
	for _, each := range mark.Group {
		if _, isSettled := stored[each.ChoiceID]; !isSettled {
			return nil, docstore.ErrConflict
		}
		if calls[each.ChoiceID] == nil {
			delete(stored, each.ChoiceID)
		}
	}
	var added []Choice
	for _, id := range ids {
		if _, isThere := stored[id]; isThere || calls[id] == nil {
			continue
		}
		choice := Choice{ID: id, ParentID: c.Parents.ID(parent)}
		for _, each := range calls[id] {
			each.change(parent, &choice)
		}
		stored[id] = choice
		if choice.Pending == Pending {
			added = append(added, choice)
		}
	}
	if len(added) == 0 {
		return stored, nil
	}
	taken, err := docstore.Taken(c.Choices.Insert(ctx, added...))
	if err == nil && len(taken) > 0 {
		err = docstore.ErrConflict
	}
	return stored, err
}

// add adds the pending ones of stored choices to the numbers of a parent whose mark is settled. One is counted
// again even if its value is counted already, because another process may be about to count
// the value that its user wanted before. It reports whether the parent changes.
func (c *Counter[P]) add(parent *P, stored map[string]Choice) bool {
	highest := int32(len(c.Numbers(parent)))
	if highest == 0 {
		return false
	}
	var group []Counted
	for id, choice := range stored {
		if choice.Pending != Pending || min(choice.Counted, choice.Wanted) < None || max(choice.Counted, choice.Wanted) > highest {
			continue
		}
		if choice.Counted != None {
			c.Add(parent, choice.Counted, -1)
		}
		if choice.Wanted != None {
			c.Add(parent, choice.Wanted, 1)
		}
		if isFirst := choice.CountedAt == 0; isFirst && choice.Moved != None {
			unnamed := c.Unnamed(parent, choice.Moved)
			*unnamed = max(0, *unnamed-1)
		}
		group = append(group, Counted{id, choice.Wanted})
	}
	mark := c.Mark(parent)
	switch {
	case len(group) > 0:
		*mark = Mark{Count: mark.Count + 1, Group: group}
	case len(stored) == 0 && len(mark.Group) > smallGroup:
		mark.Group = nil
	default:
		return false
	}
	return true
}

// confirm checks that those of stored choices that no call has changed are as they were read. Errors: ErrConflict.
func (c *Counter[P]) confirm(ctx context.Context, stored map[string]Choice) error {
	reads, ctx := errgroup.WithContext(ctx)
	for id, choice := range stored {
		if choice.Pending == Pending {
			continue
		}
		reads.Go(func() error {
			found, err := c.Choices.Get(ctx, id, docstore.Linearizable)
			switch {
			case err != nil && !errors.Is(err, docstore.ErrNotFound):
				return err
			case found.Wanted != choice.Wanted || found.Pending != Settled:
				return docstore.ErrConflict
			}
			return nil
		})
	}
	return reads.Wait()
}

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
		choice, err := c.Choices.Find(limited, byPending().Is(Pending).Within(docstore.Span{From: docstore.ValueOf(IDOf(from, 0))}).Everywhere())
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
		case choice.ID == "":
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
		page, err := c.Choices.Page(ctx, docstore.Query{Where: under(byPending().Is(Pending), parentID), Limit: maxGroup})
		if err != nil {
			return err
		}
		ids := make([]string, len(page.Documents))
		for i := range ids {
			ids[i] = page.Documents[i].ID
		}
		batch := keeping[P](ids...)
		for _, each := range [][]*call[P]{batch, nil} {
			if _, err := c.count(ctx, parentID, each); err != nil {
				if _, missing := c.Parents.Documents.Get(ctx, parentID); errors.Is(missing, docstore.ErrNotFound) {
					return nil
				}
				return err
			}
		}
		if page.Next == "" {
			return nil
		}
	}
	return nil
}

// keeping returns calls that keep choices, so that they are counted.
func keeping[P any](ids ...string) []*call[P] {
	batch := make([]*call[P], len(ids))
	for i, id := range ids {
		batch[i] = &call[P]{choiceID: id, decide: func(_ *P, present int32) (int32, error) { return present, nil }}
	}
	return batch
}
