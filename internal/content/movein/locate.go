package movein

import (
	"context"

	"github.com/waybook/waybook/internal/content/aliases"
	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/id"
	moveinv1 "github.com/waybook/waybook/proto/gen/waybook/movein/v1"
)

// table is the collection of items.
type table[D any] struct {
	documents *docstore.Collection[int64, D]
	form      Form[D]
	// keyOf returns the request key of a document.
	keyOf func(*D) string
}

// locate gives items the identifiers that follow from their old ones, unless they have them, and
// finds those that are stored. No failure undoes what it finds; what was stored a moment ago may
// be missing. A text may have one of several identifiers, because two texts may have the same.
func (t table[D]) locate(ctx context.Context, items []*item[D]) error {
	taken, first := map[int64]bool{}, make(map[string]*item[D], len(items))
	for _, each := range items {
		if first[each.oldID] == nil {
			first[each.oldID] = each
		}
	}
	for probe := 0; len(items) > 0; probe++ {
		if probe == id.Probes {
			for _, each := range items {
				each.refuse("ID_TAKEN", "others have all identifiers that this old identifier could have")
			}
			return nil
		}
		ids := make([]int64, len(items))
		for i, each := range items {
			if each.id == 0 || probe > 0 {
				each.id = idOf(each.oldID, each.place, probe)
			}
			ids[i] = each.id
		}
		stored, err := t.documents.GetMany(ctx, ids, docstore.Durable)
		if err != nil {
			return err
		}
		present := make(map[int64]*D, len(stored))
		for i := range stored {
			present[t.form.ID(&stored[i])] = &stored[i]
		}
		var others []*item[D]
		for _, each := range items {
			found := present[each.id]
			isOther := found != nil && t.keyOf(found) != aliases.RequestPrefix+each.oldID
			switch {
			case first[each.oldID] != each:
				each.refuse("REPEATED", "an earlier record of the request has this identifier")
			case (isOther || taken[each.id]) && aliases.IsText(each.id):
				others = append(others, each)
			case isOther || taken[each.id]:
				each.refuse("ID_TAKEN", "something else has the identifier that follows from this old identifier")
			default:
				taken[each.id], each.stored = true, found
				t.form.Identify(&each.document, each.id, each.parentID, aliases.RequestPrefix+each.oldID)
			}
		}
		items = others
	}
	return nil
}

// insert stores the documents of items that are not stored, and gives each its outcome.
func (t table[D]) insert(ctx context.Context, items []*item[D], isDry bool) error {
	var fresh []*item[D]
	var documents []D
	for _, each := range items {
		if each.stored != nil {
			t.settle(each)
			continue
		}
		fresh, documents = append(fresh, each), append(documents, each.document)
	}
	if !isDry {
		taken, err := docstore.Taken(t.documents.Insert(ctx, documents...))
		if err != nil {
			return err
		}
		for _, i := range taken { // another call has stored it, or an earlier one a moment ago
			found, err := t.documents.Get(ctx, fresh[i].id, docstore.Linearizable)
			if err != nil {
				return err
			}
			if t.keyOf(&found) != aliases.RequestPrefix+fresh[i].oldID {
				return docstore.ErrConflict
			}
			fresh[i].stored = &found
			t.settle(fresh[i])
		}
	}
	for _, each := range open(fresh) {
		each.result.Outcome, each.result.Id = moveinv1.Outcome_OUTCOME_INSERTED, each.id
	}
	return nil
}

func (t table[D]) settle(each *item[D]) {
	each.result.Id = each.id
	Settle(each.result, t.form.Record(&each.document), t.form.Record(each.stored))
}
