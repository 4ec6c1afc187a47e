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
		{"Modify raises a field and returns what it was", modifyRaises},
		{"Modify changes only a document that meets its conditions", modifyOnCondition},
		{"an update that has read what Modify sets runs again", modifyDuringUpdate},
		{"Modify refuses fields that it cannot change without a read", modifyRefuses},
		{"of concurrent raises each sees those before it", modifiesTogether},
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
	_, err := table.Modify(t.Context(), docstore.Modification{ID: number(1), Add: []docstore.Amount{seenBy(1), {Field: "note", By: 1}}})
	wantPlain(t, err)
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

func raising(to int64) docstore.Modification {
	return docstore.Modification{Add: []docstore.Amount{{Field: "likes", By: 1}}, Raise: docstore.Amount{Field: "stars", By: to}}
}

func modifyRaises(t *testing.T, engine docstore.Engine) {
	c := openTallies(t, engine)
	must(t, c.Insert(t.Context(), tally{ID: 1, Title: "t"}))
	for _, step := range []struct{ to, want int64 }{{5, 0}, {3, 5}, {5, 5}, {6, 5}, {-1, 6}} {
		got, err := c.Modify(t.Context(), 1, raising(step.to), nil)
		must(t, err)
		wantEqual(t, "before", got, step.want)
	}
	got, err := c.Get(t.Context(), 1)
	must(t, err)
	wantEqual(t, "document", got, tally{ID: 1, Title: "t", Likes: 5, Stars: 6})
	_, err = c.Modify(t.Context(), 2, raising(1), nil)
	wantError(t, err, docstore.ErrNotFound)
	must(t, c.Insert(t.Context(), tally{ID: 3}))
	_, err = c.Modify(t.Context(), 3, raising(-2), nil)
	must(t, err)
	got, err = c.Get(t.Context(), 3)
	must(t, err)
	wantEqual(t, "a missing field", got, tally{ID: 3, Likes: 1, Stars: -2})
}

// titled sets the title of a tally that has another one.
func titled(t *testing.T, c *docstore.Collection[int64, tally], from, to string) error {
	t.Helper()
	_, err := c.Modify(t.Context(), 1, docstore.Modification{If: []docstore.Condition{docstore.Is("title", from)}}, map[string]any{"title": to})
	return err
}

func modifyOnCondition(t *testing.T, engine docstore.Engine) {
	c := openTallies(t, engine)
	must(t, c.Insert(t.Context(), tally{ID: 1, Title: "a"}))
	for _, each := range []docstore.Modification{{}, raising(4)} {
		each.If = []docstore.Condition{docstore.Is("title", "a"), docstore.Is[int64]("likes", 1)}
		_, err := c.Modify(t.Context(), 1, each, map[string]any{"title": "b"})
		wantError(t, err, docstore.ErrConflict)
		_, err = c.Modify(t.Context(), 2, each, nil)
		wantError(t, err, docstore.ErrNotFound)
	}
	must(t, titled(t, c, "a", "b"))
	wantError(t, titled(t, c, "a", "c"), docstore.ErrConflict)
	got, err := c.Get(t.Context(), 1)
	must(t, err)
	wantEqual(t, "document", got, tally{ID: 1, Title: "b"})
}

func modifyDuringUpdate(t *testing.T, engine docstore.Engine) {
	c := openTallies(t, engine)
	must(t, c.Insert(t.Context(), tally{ID: 1, Title: "a"}))
	var read []string
	_, err := c.Update(t.Context(), 1, func(each *tally) error {
		if read = append(read, each.Title); len(read) == 1 {
			must(t, titled(t, c, "a", "b"))
		}
		each.Title += "!"
		return nil
	})
	must(t, err)
	wantEqual(t, "read", read, []string{"a", "b"})
	got, err := c.Get(t.Context(), 1)
	must(t, err)
	wantEqual(t, "document", got, tally{ID: 1, Title: "b!"})
}

func modifyRefuses(t *testing.T, engine docstore.Engine) {
	c := openPlaces(t, engine)
	must(t, c.Insert(t.Context(), somePlace(1)))
	for _, field := range []string{"slot", "nowhere", "seen", docstore.RevisionField, docstore.IDIndex} {
		_, err := c.Modify(t.Context(), 1, docstore.Modification{}, map[string]any{field: int64(7)})
		wantPlain(t, err)
	}
	for _, field := range []string{"slot", "nowhere", docstore.RevisionField, docstore.IDIndex} {
		_, err := c.Modify(t.Context(), 1, docstore.Modification{Raise: docstore.Amount{Field: field, By: 1}}, nil)
		wantPlain(t, err)
	}
	_, err := c.Modify(t.Context(), 1, docstore.Modification{Add: []docstore.Amount{seenBy(1)}, Raise: docstore.Amount{Field: "seen", By: 5}}, nil)
	wantPlain(t, err)
	wantContents(t, c, []place{somePlace(1)})
}

func modifiesTogether(t *testing.T, engine docstore.Engine) {
	const writers = 16
	c := openTallies(t, engine)
	must(t, c.Insert(t.Context(), tally{ID: 1}))
	var highest atomic.Int64
	at(writers, func(i int) {
		to := int64(i*7%writers) + 1
		done := highest.Load()
		before, err := c.Modify(t.Context(), 1, raising(to), nil)
		if err != nil || before < done {
			t.Errorf("raised to %d: it was %d before, after it had become %d: %v", to, before, done, err)
		}
		for last := highest.Load(); last < to && !highest.CompareAndSwap(last, to); {
			last = highest.Load()
		}
	})
	got, err := c.Get(t.Context(), 1)
	must(t, err)
	wantEqual(t, "document", got, tally{ID: 1, Likes: writers, Stars: writers})
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
