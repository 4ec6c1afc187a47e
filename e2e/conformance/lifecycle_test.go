package conformance

import (
	"context"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/id"
)

// calls returns a call of each method of the port that takes a context.
func calls(engine docstore.Engine, c *places) map[string]func(context.Context) error {
	late := placeSpec()
	late.Name = "late"
	open := func(spec docstore.Spec) func(context.Context) error {
		return func(ctx context.Context) error { _, err := docstore.Open[int64, place](ctx, engine, spec); return err }
	}
	get := func(as docstore.Consistency) func(context.Context) error {
		return func(ctx context.Context) error { _, err := c.GetMany(ctx, []int64{1}, as); return err }
	}
	return map[string]func(context.Context) error{
		"Open": open(late), "Open again": open(placeSpec()), "Ping": engine.Ping,
		"Inspect": func(ctx context.Context) error { _, err := engine.Inspect(ctx, placeSpec()); return err },
		"Insert":  func(ctx context.Context) error { return c.Insert(ctx, somePlace(2)) },
		"GetMany": get(docstore.Present), "a durable GetMany": get(docstore.Durable), "a linearizable GetMany": get(docstore.Linearizable),
		"Highest": func(ctx context.Context) error { _, err := c.Highest(ctx, 1); return err },
		"Find":    func(ctx context.Context) error { _, err := c.Find(ctx, byCode().Is("code 1")); return err },
		"Update": func(ctx context.Context) error {
			_, err := c.Update(ctx, 1, func(p *place) error { p.Seen++; return nil })
			return err
		},
		"UpdateMany": func(ctx context.Context) error {
			return c.UpdateMany(ctx, []int64{1}, func(p *place) bool { p.Seen++; return true })
		},
		"Modify": func(ctx context.Context) error {
			_, err := c.Modify(ctx, 1, docstore.Edit{Raise: docstore.Amount{Field: "seen", By: 1}})
			return err
		},
		"Delete":    func(ctx context.Context) error { return c.Delete(ctx, 1) },
		"Count":     func(ctx context.Context) error { _, err := c.Count(ctx, byCode().All()); return err },
		"DeleteAll": func(ctx context.Context) error { _, err := c.DeleteAll(ctx, byCode().All()); return err },
		"Page": func(ctx context.Context) error {
			_, err := c.Page(ctx, docstore.Query{Where: byCode().All(), Limit: 1})
			return err
		},
	}
}

func contextDone(t *testing.T, engine docstore.Engine) {
	c := placesWith(t, engine, somePlace(1))
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	late, stop := context.WithDeadline(t.Context(), time.Unix(0, 0))
	defer stop()
	for name, call := range calls(engine, c) {
		t.Log(name)
		wantError(t, call(canceled), context.Canceled)
		wantError(t, call(late), context.DeadlineExceeded)
	}
	wantContents(t, c, []place{somePlace(1)})
}

func afterClose(t *testing.T, engine docstore.Engine) {
	c := placesWith(t, engine, somePlace(1))
	must(t, engine.Close())
	for name, call := range calls(engine, c) {
		t.Log(name)
		wantError(t, call(t.Context()), docstore.ErrUnavailable)
	}
	must(t, engine.Close())
}

func opensAgain(t *testing.T, engine docstore.Engine) {
	first, second := openPlaces(t, engine), openPlaces(t, engine)
	must(t, first.Insert(t.Context(), somePlace(1)))
	must(t, second.Insert(t.Context(), somePlace(2)))
	other := placeSpec()
	other.Indexes = other.Indexes[1:]
	_, err := engine.Open(t.Context(), other)
	wantPlain(t, err)
	must(t, second.Insert(t.Context(), somePlace(3)))
	wantContents(t, first, somePlaces(1, 3))
}

func senselessSpecs(t *testing.T, engine docstore.Engine) {
	field := docstore.Field{Name: "a", Kind: docstore.Int64}
	index := func(name string, fields ...docstore.Field) docstore.Spec {
		return docstore.Spec{Name: "c", ID: docstore.Int64, Indexes: []docstore.Index{{Name: name, Fields: fields}}}
	}
	sharded := index("i", field)
	sharded.Indexes[0].Unique, sharded.Sharding = true, docstore.ByID
	twice := index("i", field)
	twice.Indexes = append(twice.Indexes, twice.Indexes[0])
	sparse := func(spec docstore.Spec) docstore.Spec {
		spec.Indexes[0].Sparse = true
		return spec
	}
	sparsePlace := sparse(index("i", field))
	sparsePlace.Scheme, sparsePlace.Sharding, sparsePlace.PlaceFields = id.Scheme{}, docstore.ByPlace, []string{"a"}
	sparseUnique := sparse(index("i", field))
	sparseUnique.Indexes[0].Unique = true
	walked, placed := index("i", field), index("i", field)
	walked.Scheme, walked.Sharding, walked.Indexes[0].Walked = id.Scheme{}, docstore.ByPlace, true
	placed.PlaceFields = []string{"a"}
	placedTwice := index("i", field)
	placedTwice.Scheme, placedTwice.Sharding, placedTwice.PlaceFields = id.Scheme{}, docstore.ByPlace, []string{"a", "a"}
	for _, spec := range []docstore.Spec{
		{},
		{Name: "c"},
		{Name: "c", ID: docstore.Int64, Sharding: docstore.ByPlace},
		{Name: "C", ID: docstore.Int64},
		{Name: "c/d", ID: docstore.Int64},
		twice,
		sharded,
		index("i"),
		index("_id", field),
		index("", field),
		index("i", field, field),
		index("i", docstore.Field{Name: "a"}),
		index("i", docstore.Field{Kind: docstore.String}),
		index("i", docstore.Field{Name: "_id", Kind: docstore.Int64}),
		sparse(index("i", field, docstore.Field{Name: "b", Kind: docstore.Int64})), sparsePlace, sparseUnique,
		walked, placed, placedTwice,
	} {
		if _, err := engine.Open(t.Context(), spec); err == nil || spec.Validate() == nil {
			t.Errorf("%+v was opened", spec)
		}
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
	inspection := inspect(t, engine, placeSpec())
	wantInspection(t, inspection, true, nil, nil)
	wantContents(t, openInspected(t, inspection, placeSpec()), somePlaces(1, 3))
	table := inspection.Table
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
