package docstoretest

import (
	"sync/atomic"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/waybook/waybook/internal/docstore"
)

func counterCases() []testCase {
	return []testCase{
		{"Increment adds, leaves the revision alone and counts itself", increments},
		{"Increment creates a missing field", incrementCreates},
		{"Increment of an unknown document is not found", incrementUnknown},
		{"Increment refuses a field that is not declared as a counter", incrementUndeclared},
		{"Increment refuses a field that is no integer", incrementMisfit},
		{"an increment between the read and the write of an update is not lost", incrementDuringUpdate},
		{"a counter that an update empties keeps the increments of the meantime", incrementDuringEmptying},
		{"of concurrent updates and increments of one counter all take effect", incrementsAndUpdates},
		{"Observe runs again after an increment", observesIncrement},
	}
}

func seenBy(n int64) docstore.Amount { return docstore.Amount{Field: "seen", By: n} }

func increments(t *testing.T, engine docstore.Engine) {
	c := openPlaces(t, engine)
	insertAll(t, c, somePlaces(1, 3))
	for _, by := range []int64{5, -7, 0} {
		must(t, c.Increment(t.Context(), 2, seenBy(by)))
	}
	want := somePlace(2)
	want.Seen = -2
	wantContents(t, c, []place{somePlace(1), want, somePlace(3)})
	raw, err := openTable(t, engine, placeSpec()).Get(t.Context(), number(2))
	must(t, err)
	wantEqual(t, "revision", raw.Lookup(docstore.RevisionField).Int64(), int64(1))
	wantEqual(t, "increments", raw.Lookup(docstore.AddsField).Int64(), int64(3))
}

// tally is a document with two counters; one of them may be missing.
type tally struct {
	ID    int64  `bson:"_id"`
	Title string `bson:"title"`
	Likes int64  `bson:"likes"`
	Stars int64  `bson:"stars,omitempty"`
}

func openTallies(t *testing.T, engine docstore.Engine) *docstore.Collection[int64, tally] {
	t.Helper()
	return openAs[tally](t, engine, docstore.Spec{Name: "tallies", ID: docstore.Int64, Counters: []string{"likes", "stars"}})
}

func incrementCreates(t *testing.T, engine docstore.Engine) {
	c := openTallies(t, engine)
	must(t, c.Insert(t.Context(), tally{ID: 1, Title: "t"}))
	must(t, c.Increment(t.Context(), 1, docstore.Amount{Field: "stars", By: 4}, docstore.Amount{Field: "likes", By: -1}))
	got, err := c.Get(t.Context(), 1)
	must(t, err)
	wantEqual(t, "document", got, tally{ID: 1, Title: "t", Likes: -1, Stars: 4})
}

func incrementUnknown(t *testing.T, engine docstore.Engine) {
	c := openPlaces(t, engine)
	must(t, c.Insert(t.Context(), somePlace(1)))
	wantError(t, c.Increment(t.Context(), 2, seenBy(1)), docstore.ErrNotFound)
	wantContents(t, c, []place{somePlace(1)})
}

func incrementUndeclared(t *testing.T, engine docstore.Engine) {
	c := openPlaces(t, engine)
	must(t, c.Insert(t.Context(), somePlace(1)))
	for _, field := range []string{"slot", "nowhere", "", docstore.RevisionField, docstore.IDIndex, "seen.x"} {
		wantPlain(t, c.Increment(t.Context(), 1, seenBy(1), docstore.Amount{Field: field, By: 1}))
	}
	wantContents(t, c, []place{somePlace(1)})
}

func incrementMisfit(t *testing.T, engine docstore.Engine) {
	c := openPlaces(t, engine)
	must(t, c.Insert(t.Context(), somePlace(1)))
	table := openTable(t, engine, placeSpec())
	wantPlain(t, table.Increment(t.Context(), number(1), []docstore.Amount{seenBy(1), {Field: "note", By: 1}}))
	change := setting(t, 1, 1, bson.E{Key: "title", Value: "changed"})
	change.Add = []docstore.Amount{{Field: "note", By: 1}}
	wantPlain(t, table.Update(t.Context(), change))
	wantContents(t, c, []place{somePlace(1)})
}

func incrementDuringUpdate(t *testing.T, engine docstore.Engine) {
	c := openPlaces(t, engine)
	must(t, c.Insert(t.Context(), somePlace(1)))
	runs := 0
	_, err := c.Update(t.Context(), 1, func(p *place) error {
		runs++
		must(t, c.Increment(t.Context(), 1, seenBy(1)))
		p.Seen += 100
		p.Note = "changed"
		return nil
	})
	must(t, err)
	wantEqual(t, "runs", runs, 1)
	want := somePlace(1)
	want.Seen, want.Note = 101, "changed"
	wantContents(t, c, []place{want})
}

func incrementDuringEmptying(t *testing.T, engine docstore.Engine) {
	c := openTallies(t, engine)
	must(t, c.Insert(t.Context(), tally{ID: 1, Likes: 5, Stars: 5}))
	_, err := c.Update(t.Context(), 1, func(each *tally) error {
		must(t, c.Increment(t.Context(), 1, docstore.Amount{Field: "likes", By: 2}, docstore.Amount{Field: "stars", By: 3}))
		each.Likes, each.Stars = 0, 0
		return nil
	})
	must(t, err)
	got, err := c.Get(t.Context(), 1)
	must(t, err)
	wantEqual(t, "document", got, tally{ID: 1, Likes: 2, Stars: 3})
}

func incrementsAndUpdates(t *testing.T, engine docstore.Engine) {
	const writers, each = 16, 4
	c := openPlaces(t, engine)
	must(t, c.Insert(t.Context(), somePlace(1)))
	var updates atomic.Int64
	at(writers, func(i int) {
		for range each {
			var err error
			switch i % 3 {
			case 0:
				updates.Add(1)
				_, err = c.Update(t.Context(), 1, func(p *place) error { p.Seen++; return nil })
			case 1:
				updates.Add(1)
				err = c.UpdateMany(t.Context(), []int64{1}, func(p *place) bool { p.Seen++; return true })
			default:
				err = c.Increment(t.Context(), 1, seenBy(1))
			}
			if err != nil {
				t.Error(err)
			}
		}
	})
	want := somePlace(1)
	want.Seen = writers * each
	wantContents(t, c, []place{want})
	raw, err := openTable(t, engine, placeSpec()).Get(t.Context(), number(1))
	must(t, err)
	wantEqual(t, "revision", raw.Lookup(docstore.RevisionField).Int64(), 1+updates.Load())
	wantEqual(t, "increments", raw.Lookup(docstore.AddsField).Int64(), writers*each-updates.Load())
}

func observesIncrement(t *testing.T, engine docstore.Engine) {
	c := openPlaces(t, engine)
	must(t, c.Insert(t.Context(), somePlace(1)))
	var seen []int64
	must(t, c.Observe(t.Context(), 1, func(p *place) error {
		if seen = append(seen, p.Seen); len(seen) <= 2 {
			must(t, c.Increment(t.Context(), 1, seenBy(1)))
		}
		return nil
	}))
	wantEqual(t, "seen", seen, []int64{0, 1, 2})
}
