package choices

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/waybook/waybook/internal/docstore"
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
	stored, err := c.Choices.GetMany(ctx, ids, docstore.Durable)
	if err != nil {
		return nil, err
	}
	there = make(map[string]Choice, len(moved))
	for _, each := range stored {
		there[each.ID] = each
	}
	if isDry {
		return there, nil
	}
	inserted, err := c.insertAll(ctx, slices.DeleteFunc(slices.Clone(moved), func(m MovedIn) bool {
		_, isThere := there[IDOf(m.ParentID, m.UserID)]
		return isThere
	}))
	if err != nil {
		return nil, err
	}
	calls := make([]*call[P], len(moved))
	counting, within := errgroup.WithContext(ctx)
	for i, m := range moved {
		if stored, isThere := there[ids[i]]; isThere && stored.Pending == Settled || inserted[ids[i]] {
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
		if _, isMine := inserted[ids[i]]; each != nil && each.there.ID != "" && !isMine {
			there[ids[i]] = each.there
		}
	}
	return there, nil
}

// insertAll stores and counts choices as count does, those under all parents together. It leaves out those whose parents
// have counted others last. It returns which ones it has stored, and whether they are counted: none are if a parent has
// changed meanwhile.
func (c *Counter[P]) insertAll(ctx context.Context, moved []MovedIn) (isCounted map[string]bool, err error) {
	under := map[int64]map[string]Choice{}
	for _, m := range moved {
		if under[m.ParentID] == nil {
			under[m.ParentID] = map[string]Choice{}
		}
		id := IDOf(m.ParentID, m.UserID)
		under[m.ParentID][id] = Choice{ID: id, ParentID: m.ParentID, Wanted: m.Value, Moved: m.Value, Pending: Pending}
	}
	parents, err := c.Parents.Documents.GetStored(ctx, slices.Collect(maps.Keys(under)))
	if err != nil {
		return nil, err
	}
	parents = slices.DeleteFunc(parents, func(each docstore.Stored[P]) bool {
		parent := &each.Document
		return c.Numbers(parent) == nil || len(c.Mark(parent).Group) > 0 || len(under[c.Parents.ID(parent)]) > maxGroup
	})
	var added []Choice
	for i := range parents {
		added = slices.AppendSeq(added, maps.Values(under[c.Parents.ID(&parents[i].Document)]))
	}
	slices.SortFunc(added, func(a, b Choice) int { return cmp.Compare(a.ID, b.ID) })
	taken, err := docstore.Taken(c.Choices.Insert(ctx, added...))
	if err != nil {
		return nil, err
	}
	for _, i := range taken {
		delete(under[added[i].ParentID], added[i].ID)
	}
	isCounted = make(map[string]bool, len(added))
	for i := range parents {
		for id := range under[c.Parents.ID(&parents[i].Document)] {
			isCounted[id] = false
		}
	}
	marks, ids := map[int64]Mark{}, []string{}
	err = c.Parents.Documents.UpdateFrom(ctx, parents, func(parent *P) bool {
		parentID := c.Parents.ID(parent)
		if !c.add(parent, under[parentID]) {
			return false
		}
		marks[parentID] = *c.Mark(parent)
		ids = slices.AppendSeq(ids, maps.Keys(under[parentID]))
		return true
	})
	if errors.Is(err, docstore.ErrConflict) {
		return isCounted, nil
	}
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		isCounted[id] = true
	}
	return isCounted, c.Choices.UpdateMany(ctx, ids, func(choice *Choice) bool {
		mark := marks[choice.ParentID]
		return mark.settle(choice)
	})
}
