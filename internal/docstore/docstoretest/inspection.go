package docstoretest

import (
	"context"
	"errors"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/waybook/waybook/internal/docstore"
)

func inspectionCases() []testCase {
	return []testCase{
		{"Inspect of a collection that does not exist finds nothing and creates nothing", inspectsNothing},
		{"Inspect of a collection as declared finds all indexes and reads it", inspectsWhole},
		{"the table of an inspection refuses every write", inspectionRefusesWrites},
		{"Observe runs again on the new document after a concurrent write, and writes nothing", observationRunsAgain},
		{"Observe returns the error of its function unwrapped, and fails for a missing document", observationFails},
	}
}

func allIndexes() []string {
	return []string{"by_owner", "by_owner_title", "by_title", "code", "flag", "owner_slot"}
}

func inspect(t *testing.T, engine docstore.Engine, spec docstore.Spec) docstore.Inspection {
	t.Helper()
	inspection, err := engine.Inspect(t.Context(), spec)
	must(t, err)
	return inspection
}

// wantInspection checks an inspection, except its table.
func wantInspection(t *testing.T, got docstore.Inspection, exists bool, missing, undeclared []string) {
	t.Helper()
	got.Table = nil
	wantEqual(t, "inspection", got, docstore.Inspection{Exists: exists, Missing: missing, Undeclared: undeclared})
}

func inspectsNothing(t *testing.T, engine docstore.Engine) {
	// The second round would find anything that the first one had created.
	for range 2 {
		inspection := inspect(t, engine, placeSpec())
		wantInspection(t, inspection, false, allIndexes(), nil)
		table := inspection.Table
		_, err := docstore.GetFrom(t.Context(), table, number(1), docstore.Present)
		wantError(t, err, docstore.ErrNotFound)
		some, _ := scanRaw(t, table, docstore.Scan{Where: docstore.WithIDs(number(1), number(2)), Limit: 2})
		all, _ := scanRaw(t, table, docstore.Scan{Where: docstore.All(docstore.IDIndex), Limit: 5})
		n, err := table.Count(t.Context(), docstore.All(docstore.IDIndex))
		must(t, err)
		if len(some)+len(all) > 0 || n != 0 {
			t.Errorf("a collection that does not exist returned %v, %v and a count of %d", some, all, n)
		}
		_, _, err = table.Scan(t.Context(), docstore.Scan{Where: byCode().All(), Limit: 5})
		wantPlain(t, err)
		_, err = table.Count(t.Context(), byCode().All())
		wantPlain(t, err)
	}
}

func inspectsWhole(t *testing.T, engine docstore.Engine) {
	insertAll(t, openPlaces(t, engine), somePlaces(1, 10))
	inspection := inspect(t, engine, placeSpec())
	wantInspection(t, inspection, true, nil, nil)
	wantContents(t, openInspected(t, inspection, placeSpec()), somePlaces(1, 10))
}

// openInspected returns a collection that reads from the table of an inspection.
func openInspected(t *testing.T, inspection docstore.Inspection, spec docstore.Spec) *places {
	t.Helper()
	return openAs[place](t, inspected{table: inspection.Table}, spec)
}

// inspected is an engine with one table.
type inspected struct {
	docstore.Engine
	table docstore.Table
}

func (i inspected) Open(context.Context, docstore.Spec) (docstore.Table, error) { return i.table, nil }

func inspectionRefusesWrites(t *testing.T, engine docstore.Engine) {
	c := placesWith(t, engine, somePlaces(1, 3)...)
	table := inspect(t, engine, placeSpec()).Table
	_, err := table.Insert(t.Context(), []bson.Raw{stored(t, somePlace(4), 1)})
	wantPlain(t, err)
	wantPlain(t, updateOf(t, table, setting(t, 1, 1, bson.E{Key: "note", Value: "changed"})))
	_, err = table.UpdateMany(t.Context(), []docstore.Change{setting(t, 1, 1)})
	wantPlain(t, err)
	_, err = table.Update(t.Context(), docstore.Change{ID: number(1), Add: []docstore.Amount{{Field: "seen", By: 1}}})
	wantPlain(t, err)
	wantPlain(t, table.Delete(t.Context(), docstore.Deletion{ID: number(1)}))
	_, err = table.DeleteAll(t.Context(), byCode().All())
	wantPlain(t, err)
	wantContents(t, c, somePlaces(1, 3))
}

func inspectsOtherwise(t *testing.T, open func(t *testing.T) docstore.Engine) {
	engine := open(t)
	insertAll(t, openPlaces(t, engine), somePlaces(1, 10))
	must(t, engine.Close())

	other := with("by_owner", "by_title", "code")
	other.Indexes[0].Unique = true
	other.Indexes[1].Fields = []docstore.Field{{Name: "note", Kind: docstore.String}}
	other.Indexes = append(other.Indexes, docstore.Index{Name: "by_note", Fields: other.Indexes[1].Fields})
	engine = open(t)
	inspection := inspect(t, engine, other)
	wantInspection(t, inspection, true, []string{"by_note", "by_owner", "by_title"}, []string{"by_owner_title", "flag", "owner_slot"})
	for _, missing := range inspection.Missing {
		_, _, err := inspection.Table.Scan(t.Context(), docstore.Scan{Where: docstore.All(missing), Limit: 1})
		wantPlain(t, err)
	}
	c := openInspected(t, inspection, other)
	wantEqual(t, "places by code", len(walk(t, c, docstore.Query{Where: byCode().All(), Limit: 3})), 10)
	wantEqual(t, "places by id", walk(t, c, docstore.Query{Where: docstore.All(docstore.IDIndex), Limit: 3}), somePlaces(1, 10))
	engine = reopened(t, engine, open)
	wantInspection(t, inspect(t, engine, placeSpec()), true, nil, nil)
	wantContents(t, openPlaces(t, engine), somePlaces(1, 10))
	must(t, engine.Close())
}

func inspectsOtherID(t *testing.T, open func(t *testing.T) docstore.Engine) {
	engine := open(t)
	insertAll(t, openPlaces(t, engine), somePlaces(1, 2))
	spec := placeSpec()
	spec.ID = docstore.String
	_, err := engine.Inspect(t.Context(), spec)
	wantPlain(t, err)
	must(t, engine.Close())
}

func observationRunsAgain(t *testing.T, engine docstore.Engine) {
	c := placesWith(t, engine, somePlace(1))
	var seen []int64
	must(t, c.Observe(t.Context(), int64(1), func(p *place) error {
		if seen = append(seen, p.Seen); len(seen) <= 3 {
			updated(t, c, 1, func(p *place) { p.Seen++ })
		}
		p.Note = "changed"
		return nil
	}))
	wantEqual(t, "seen", seen, []int64{0, 1, 2, 3})
	want := somePlace(1)
	want.Seen = 3
	wantContents(t, c, []place{want})
}

func observationFails(t *testing.T, engine docstore.Engine) {
	c := placesWith(t, engine, somePlace(1))
	refusal := errors.New("not now")
	if err := c.Observe(t.Context(), int64(1), func(*place) error { return refusal }); err != refusal { //nolint:errorlint // must be the same error, not wrapped
		t.Errorf("got error %v", err)
	}
	wantError(t, c.Observe(t.Context(), int64(2), func(*place) error { return nil }), docstore.ErrNotFound)
}
