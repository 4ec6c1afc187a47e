package docstoretest

import (
	"errors"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/waybook/waybook/internal/docstore"
)

func writeCases() []testCase {
	return []testCase{
		{"Update requires the current revision", updateRevision},
		{"Update of an unknown document is not found", updateUnknown},
		{"inserting no documents does nothing", insertNone},
	}
}

// stored encodes a place like Collection.
func stored(t *testing.T, p place, revision int64) bson.Raw {
	t.Helper()
	raw, err := bson.Marshal(struct {
		Place    place `bson:",inline"`
		Revision int64 `bson:"_rev"`
	}{p, revision})
	must(t, err)
	return raw
}

// setting returns the change that sets fields of a document.
func setting(t failer, id, revision int64, fields ...bson.E) docstore.Change {
	t.Helper()
	change := docstore.Change{ID: number(id), Revision: revision}
	for _, field := range fields {
		kind, value, err := bson.MarshalValue(field.Value)
		if err != nil {
			t.Fatal(err)
		}
		change.Set = append(change.Set, docstore.Assignment{Path: field.Key, Value: bson.RawValue{Type: kind, Value: value}})
	}
	return change
}

func updateRevision(t *testing.T, engine docstore.Engine) {
	c := openPlaces(t, engine)
	table := openTable(t, engine, placeSpec())
	must(t, c.Insert(t.Context(), somePlace(1)))
	changed := somePlace(1)
	changed.Title, changed.Code = "changed", "changed"
	fields := []bson.E{{Key: "title", Value: "changed"}, {Key: "code", Value: "changed"}}
	for _, revision := range []int64{-1, 2} {
		wantError(t, updateOf(t, table, setting(t, 1, revision, fields...)), docstore.ErrConflict)
	}
	wantContents(t, c, []place{somePlace(1)})
	must(t, updateOf(t, table, setting(t, 1, 1, fields...)))
	wantContents(t, c, []place{changed})
	wantError(t, updateOf(t, table, setting(t, 1, 1, bson.E{Key: "title", Value: "title 1"})), docstore.ErrConflict)
	wantContents(t, c, []place{changed})
}

func updateUnknown(t *testing.T, engine docstore.Engine) {
	c := openPlaces(t, engine)
	table := openTable(t, engine, placeSpec())
	wantError(t, updateOf(t, table, setting(t, 1, 1, bson.E{Key: "title", Value: "new"})), docstore.ErrNotFound)
	wantContents(t, c, []place{})
}

func insertNone(t *testing.T, engine docstore.Engine) {
	c := placesWith(t, engine, nil...)
	errs, err := openTable(t, engine, placeSpec()).Insert(t.Context(), nil)
	if err != nil || len(errs) != 0 {
		t.Fatalf("got %v, %v", errs, err)
	}
	wantContents(t, c, []place{})
}

func updateCases() []testCase {
	return []testCase{
		{"each write of a document raises its revision by one", revisionGrows},
		{"an error of the change is returned unwrapped and nothing is written", changeFails},
		{"a change must not modify the id", changedID},
		{"a change that collides with another writer runs again on the new document", changeRunsAgain},
	}
}

func revisionGrows(t *testing.T, engine docstore.Engine) {
	c := openPlaces(t, engine)
	table := openTable(t, engine, placeSpec())
	must(t, c.Insert(t.Context(), somePlace(1)))
	for want := int64(1); want <= 3; want++ {
		raw := rawOf(t, table, 1)
		revision, err := docstore.RevisionOf(raw)
		must(t, err)
		wantEqual(t, "revision", revision, want)
		updated(t, c, 1, func(p *place) { p.Seen++ })
	}
}

func changeFails(t *testing.T, engine docstore.Engine) {
	c := placesWith(t, engine, somePlace(1))
	refusal := errors.New("not now")
	_, err := c.Update(t.Context(), int64(1), func(p *place) error {
		p.Note = "changed"
		return refusal
	})
	if err != refusal { //nolint:errorlint // must be the same error, not wrapped
		t.Fatalf("got error %v", err)
	}
	wantContents(t, c, []place{somePlace(1)})
}

func changedID(t *testing.T, engine docstore.Engine) {
	c := placesWith(t, engine, somePlaces(1, 2)...)
	_, err := c.Update(t.Context(), int64(1), func(p *place) error { p.ID = 2; return nil })
	wantPlain(t, err)
	wantContents(t, c, somePlaces(1, 2))
}

func changeRunsAgain(t *testing.T, engine docstore.Engine) {
	c := placesWith(t, engine, somePlace(1))
	runs := 0
	got := updated(t, c, 1, func(p *place) {
		if runs++; runs <= 3 {
			updated(t, c, 1, func(p *place) { p.Seen++ })
		}
		p.Seen += 100
	})
	wantEqual(t, "runs", runs, 4)
	wantEqual(t, "seen", got.Seen, int64(103))
	wantContents(t, c, []place{got})
}

// updateOf makes a change that returns nothing.
func updateOf(t *testing.T, table docstore.Table, change docstore.Change) error {
	t.Helper()
	before, err := table.Update(t.Context(), change)
	if before != nil {
		t.Errorf("a change that asks for no fields returned %v", before)
	}
	return err
}
