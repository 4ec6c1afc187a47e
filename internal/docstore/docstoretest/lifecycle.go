package docstoretest

import (
	"context"
	"testing"
	"time"

	"github.com/waybook/waybook/internal/docstore"
)

func contextCases() []testCase {
	return []testCase{
		{"a call with an ended context fails with the context's error and does nothing", contextDone},
		{"a call after Close is unavailable, and closing again does nothing", afterClose},
		{"Ping succeeds while the store is open", pings},
	}
}

// calls returns a call of each method of the port that takes a context.
func calls(engine docstore.Engine, c *places) map[string]func(context.Context) error {
	return map[string]func(context.Context) error{
		"Open": func(ctx context.Context) error {
			spec := placeSpec()
			spec.Name = "late"
			_, err := docstore.Open[int64, place](ctx, engine, spec)
			return err
		},
		"Open again": func(ctx context.Context) error {
			_, err := docstore.Open[int64, place](ctx, engine, placeSpec())
			return err
		},
		"Inspect": func(ctx context.Context) error {
			_, err := engine.Inspect(ctx, placeSpec())
			return err
		},
		"Ping":   engine.Ping,
		"Insert": func(ctx context.Context) error { return c.Insert(ctx, somePlace(2)) },
		"Get":    func(ctx context.Context) error { _, err := c.Get(ctx, int64(1)); return err },
		"GetMany": func(ctx context.Context) error {
			_, err := c.GetMany(ctx, []int64{1})
			return err
		},
		"GetDurable": func(ctx context.Context) error {
			_, err := c.GetDurable(ctx, []int64{1})
			return err
		},
		"Highest":         func(ctx context.Context) error { _, err := c.Highest(ctx, 1); return err },
		"GetLinearizable": func(ctx context.Context) error { _, err := c.GetLinearizable(ctx, 1); return err },
		"Find":            func(ctx context.Context) error { _, err := c.Find(ctx, byCode().Is("code 1")); return err },
		"Update": func(ctx context.Context) error {
			_, err := c.Update(ctx, int64(1), func(p *place) error { p.Seen++; return nil })
			return err
		},
		"UpdateMany": func(ctx context.Context) error {
			return c.UpdateMany(ctx, []int64{1}, func(p *place) bool { p.Seen++; return true })
		},
		"Raise": func(ctx context.Context) error {
			_, err := c.Raise(ctx, 1, docstore.Amount{Field: "seen", By: 1}, nil)
			return err
		},
		"Observe": func(ctx context.Context) error {
			return c.Observe(ctx, int64(1), func(*place) error { return nil })
		},
		"Delete": func(ctx context.Context) error { return c.Delete(ctx, int64(1)) },
		"Count":  func(ctx context.Context) error { _, err := c.Count(ctx, byCode().All()); return err },
		"DeleteAll": func(ctx context.Context) error {
			_, err := c.DeleteAll(ctx, byCode().All())
			return err
		},
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

func pings(t *testing.T, engine docstore.Engine) {
	must(t, engine.Ping(t.Context()))
}

func openCases() []testCase {
	return []testCase{
		{"a collection can be opened again with the same declaration", opensAgain},
		{"an open collection cannot be opened with another declaration", opensOtherwise},
		{"an invalid declaration is refused", senselessSpecs},
	}
}

func opensAgain(t *testing.T, engine docstore.Engine) {
	first, second := openPlaces(t, engine), openPlaces(t, engine)
	must(t, first.Insert(t.Context(), somePlace(1)))
	must(t, second.Insert(t.Context(), somePlace(2)))
	wantContents(t, first, somePlaces(1, 2))
}

func opensOtherwise(t *testing.T, engine docstore.Engine) {
	c := openPlaces(t, engine)
	spec := placeSpec()
	spec.Indexes = spec.Indexes[1:]
	_, err := engine.Open(t.Context(), spec)
	wantPlain(t, err)
	insertAll(t, c, somePlaces(1, 3))
	wantContents(t, c, somePlaces(1, 3))
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
	withDefault := func(name string, value docstore.Value) docstore.Spec {
		spec := index("i", field)
		spec.Defaults = map[string]docstore.Value{name: value}
		return spec
	}
	unique := withDefault("a", number(1))
	unique.Indexes[0].Unique = true
	sparse := func(spec docstore.Spec) docstore.Spec {
		spec.Indexes[0].Sparse = true
		return spec
	}
	sparsePlace := sparse(index("i", field))
	sparsePlace.Sharding, sparsePlace.PlaceFields = docstore.ByPlace, []string{"a"}
	sparseUnique := sparse(index("i", field))
	sparseUnique.Indexes[0].Unique = true
	second := index("i", docstore.Field{Name: "b", Kind: docstore.Int64}, field)
	second.Defaults = unique.Defaults
	for _, spec := range []docstore.Spec{
		{},
		{Name: "c"},
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
		withDefault("a", text("x")), withDefault("a", docstore.Value{}), withDefault("b", number(1)), unique, second,
		sparse(index("i", field, docstore.Field{Name: "b", Kind: docstore.Int64})), sparse(withDefault("a", number(1))), sparsePlace, sparseUnique,
	} {
		if _, err := engine.Open(t.Context(), spec); err == nil || spec.Validate() == nil {
			t.Errorf("%+v was opened", spec)
		}
	}
}
