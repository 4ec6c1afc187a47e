package choices

import (
	"context"
	"maps"
	"slices"

	"github.com/waybook/waybook/internal/docstore"
)

// MovedIn is a choice of a user of an old service, under a stored parent in a round. Value is not
// None.
type MovedIn struct {
	ParentID, UserID, Round int64
	Value                   int32
}

// Insert stores those choices of an old service that are not there, at most one of each user under
// a parent, and counts them. If it cannot, a sweep counts them. It returns the others by id, as
// they are stored, which no failure undoes. With isDry, nothing is stored.
func (c *Counter[P]) Insert(ctx context.Context, moved []MovedIn, isDry bool) (there map[string]Choice, err error) {
	added, present := map[string]Choice{}, make([]string, 0, len(moved))
	choices := make([]Choice, len(moved))
	for i, m := range moved {
		id := IDOf(m.ParentID, m.UserID)
		choices[i] = Choice{ID: id, ParentID: m.ParentID, Wanted: m.Value, Mark: Marked, Round: m.Round,
			Moved: m.Value}
		added[id], present = choices[i], append(present, id)
	}
	if !isDry {
		taken, err := docstore.Taken(c.Choices.Insert(ctx, choices...))
		if err != nil {
			return nil, err
		}
		present = present[:0]
		for _, at := range taken {
			present = append(present, choices[at].ID)
			delete(added, choices[at].ID)
		}
		if err := c.countMoved(ctx, added); err != nil {
			return nil, err
		}
	}
	found, err := c.Choices.GetMany(ctx, present, docstore.Linearizable)
	there = make(map[string]Choice, len(found))
	for _, choice := range found {
		there[choice.ID] = choice
	}
	return there, err
}

// countMoved counts choices that have moved in. It leaves them to a sweep if one of the parents is
// in another round.
func (c *Counter[P]) countMoved(ctx context.Context, added map[string]Choice) error {
	edits := map[int64]docstore.Edit{}
	for _, choice := range added {
		edit, has := edits[choice.ParentID]
		if !has {
			edit = docstore.Edit{If: []docstore.Condition{docstore.Is(c.RoundField, choice.Round)},
				Set: map[string]any{}}
			edits[choice.ParentID] = edit
		}
		count, moved := c.Fields(choice.Wanted)
		for _, field := range []string{count, moved} {
			sum, _ := edit.Set[field].(docstore.Plus)
			edit.Set[field] = sum + 1
		}
		if choice.Round%2 == 1 {
			return nil
		}
	}
	counted, err := c.Parents.Documents.ModifyMany(ctx, edits)
	if err != nil || counted < int64(len(edits)) {
		return err
	}
	return c.Choices.UpdateMany(ctx, slices.Collect(maps.Keys(added)),
		func(stored *Choice) bool { return stored.settle(added[stored.ID]) })
}
