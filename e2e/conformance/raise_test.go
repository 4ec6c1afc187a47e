package conformance

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/id"
)

func raiseCases() []testCase {
	return []testCase{
		{"Modify raises a field and returns what it was", raises},
		{"a raise leaves the revision alone and counts itself, unless it sets fields", raiseCounts},
		{"a raise changes only a document that meets its conditions", raisesOnCondition},
		{"Modify refuses fields that it cannot change without a read", raiseRefuses},
		{"an update that has read what Modify sets runs again", raiseDuringUpdate},
		{"of concurrent updates and raises all take effect", raisesAndUpdates},
		{"Modify sets integers of an index and texts, and returns what the document was", sets},
	}
}

// seenBy raises the field of a document.
func seenBy[T any](t *testing.T, c *docstore.Collection[int64, T], id, to int64) error {
	t.Helper()
	_, err := raise(t.Context(), c, id, docstore.Amount{Field: "seen", By: to}, nil)
	return err
}

// countsOf returns the revision of a place, and how many changes left it alone.
func countsOf(t *testing.T, engine docstore.Engine, id int64) (revision, adds int64) {
	t.Helper()
	raw := rawOf(t, openTable(t, engine, placeSpec()), id)
	adds, _ = raw.Lookup(docstore.AddsField).Int64OK()
	return raw.Lookup(docstore.RevisionField).Int64(), adds
}

func raiseCounts(t *testing.T, engine docstore.Engine) {
	c := placesWith(t, engine, somePlaces(1, 3)...)
	for _, to := range []int64{5, -7, 5} {
		must(t, seenBy(t, c, 2, to))
	}
	want := somePlace(2)
	want.Seen = 5
	wantContents(t, c, []place{somePlace(1), want, somePlace(3)})
	revision, adds := countsOf(t, engine, 2)
	wantEqual(t, "revision and raises", []int64{revision, adds}, []int64{1, 3})
	_, err := raise(t.Context(), c, 2, docstore.Amount{Field: "seen", By: 6}, map[string]any{"note": "n"})
	must(t, err)
	revision, adds = countsOf(t, engine, 2)
	wantEqual(t, "revision and raises", []int64{revision, adds}, []int64{2, 3})
}

func raisesAndUpdates(t *testing.T, engine docstore.Engine) {
	const writers, each = 16, 4
	c := openPlaces(t, engine)
	first := somePlace(1)
	first.Slot = 0
	must(t, c.Insert(t.Context(), first))
	var updates atomic.Int64
	at(writers, func(i int) {
		for n := range int64(each) {
			var err error
			switch i % 3 {
			case 0:
				updates.Add(1)
				_, err = c.Update(t.Context(), 1, func(p *place) error { p.Slot++; return nil })
			case 1:
				updates.Add(1)
				err = c.UpdateMany(t.Context(), []int64{1}, func(p *place) bool { p.Slot++; return true })
			default:
				err = seenBy(t, c, 1, int64(i)*each+n)
			}
			if err != nil {
				t.Error(err)
			}
		}
	})
	want := first
	want.Slot, want.Seen = updates.Load(), 14*each+each-1
	wantContents(t, c, []place{want})
	revision, adds := countsOf(t, engine, 1)
	wantEqual(t, "revision and raises", []int64{revision, adds}, []int64{1 + updates.Load(), writers*each - updates.Load()})
}

// tally is a document with an integer that may be missing.
type tally struct {
	ID    int64  `bson:"_id"`
	Title string `bson:"title"`
	Stars int64  `bson:"stars,omitempty"`
}

func openTallies(t *testing.T, engine docstore.Engine) *docstore.Collection[int64, tally] {
	t.Helper()
	return openAs[tally](t, engine, docstore.Spec{Name: "tallies", ID: docstore.Int64})
}

func stars(to int64) docstore.Amount { return docstore.Amount{Field: "stars", By: to} }

func raises(t *testing.T, engine docstore.Engine) {
	c := openTallies(t, engine)
	must(t, c.Insert(t.Context(), tally{ID: 1, Title: "t"}))
	for _, step := range []struct{ to, want int64 }{{5, 0}, {3, 5}, {5, 5}, {6, 5}, {-1, 6}} {
		got, err := raise(t.Context(), c, 1, stars(step.to), nil)
		must(t, err)
		wantEqual(t, "before", got, step.want)
	}
	wantEqual(t, "document", documentOf(t, c, 1), tally{ID: 1, Title: "t", Stars: 6})
	_, err := raise(t.Context(), c, 2, stars(1), nil)
	wantError(t, err, docstore.ErrNotFound)
	must(t, c.Insert(t.Context(), tally{ID: 3}))
	_, err = raise(t.Context(), c, 3, stars(-2), nil)
	must(t, err)
	wantEqual(t, "a missing field", documentOf(t, c, 3), tally{ID: 3, Stars: -2})
}

// titled sets the title of a tally that has another one.
func titled(t *testing.T, c *docstore.Collection[int64, tally], from, to string) error {
	t.Helper()
	_, err := raise(t.Context(), c, 1, stars(1), map[string]any{"title": to}, docstore.Is("title", from))
	return err
}

func raisesOnCondition(t *testing.T, engine docstore.Engine) {
	c := openTallies(t, engine)
	must(t, c.Insert(t.Context(), tally{ID: 1, Title: "a"}))
	conditions := []docstore.Condition{docstore.Is("title", "a"), docstore.Is[int64]("stars", 1)}
	for _, set := range []map[string]any{nil, {"title": "b"}} {
		_, err := raise(t.Context(), c, 1, stars(4), set, conditions...)
		wantError(t, err, docstore.ErrConflict)
		_, err = raise(t.Context(), c, 2, stars(4), set, conditions...)
		wantError(t, err, docstore.ErrNotFound)
	}
	must(t, titled(t, c, "a", "b"))
	wantError(t, titled(t, c, "a", "c"), docstore.ErrConflict)
	wantEqual(t, "document", documentOf(t, c, 1), tally{ID: 1, Title: "b", Stars: 1})
}

func raiseDuringUpdate(t *testing.T, engine docstore.Engine) {
	c := openTallies(t, engine)
	must(t, c.Insert(t.Context(), tally{ID: 1, Title: "a"}))
	var read []string
	updated(t, c, 1, func(each *tally) {
		if read = append(read, each.Title); len(read) == 1 {
			must(t, titled(t, c, "a", "b"))
		} else {
			_, err := raise(t.Context(), c, 1, stars(7), nil) // disturbs no update
			must(t, err)
		}
		each.Title += "!"
	})
	wantEqual(t, "read", read, []string{"a", "b"})
	wantEqual(t, "document", documentOf(t, c, 1), tally{ID: 1, Title: "b!", Stars: 7})
}

func raiseRefuses(t *testing.T, engine docstore.Engine) {
	c := placesWith(t, engine, somePlace(1))
	for _, field := range []string{"slot", "nowhere", "seen", "seen.x", docstore.RevisionField, docstore.IDIndex} {
		_, err := raise(t.Context(), c, 1, docstore.Amount{Field: "seen", By: 5}, map[string]any{field: int64(7)})
		wantPlain(t, err)
		if field != "seen" {
			_, err = raise(t.Context(), c, 1, docstore.Amount{Field: field, By: 1}, map[string]any{"note": "n"})
			wantPlain(t, err)
		}
	}
	wantContents(t, c, []place{somePlace(1)})
}

// pin is a document with an integer in an index that is not unique.
type pin struct {
	ID    int64  `bson:"_id"`
	Owner int64  `bson:"owner"`
	Cell  int64  `bson:"cell"`
	Note  string `bson:"note"`
	Text  string `bson:"text"`
}

// set sets fields of a pin, which returns what it was, and returns what it becomes.
func set(t *testing.T, c *docstore.Collection[int64, pin], id int64, set, mark map[string]any, conditions ...docstore.Condition) (pin, error) {
	t.Helper()
	was, _ := c.Get(t.Context(), id)
	before, err := c.Modify(t.Context(), id, docstore.Edit{If: conditions, Set: set, Mark: mark})
	if err != nil {
		return pin{}, err
	}
	wantEqual(t, "before", before, was)
	return c.Get(t.Context(), id)
}

func sets(t *testing.T, engine docstore.Engine) {
	byCell, byOwner := docstore.Index1[int64]{Name: "cell", A: "cell"}, docstore.Index1[int64]{Name: "owner", A: "owner"}
	c := openAs[pin](t, engine, docstore.Spec{
		Name: "pins", ID: docstore.Int64, Sharding: docstore.ByPlace, Scheme: id.Scheme{}, PlaceFields: []string{"owner"},
		Indexes: []docstore.Index{byCell.Declare(), byOwner.Declare()},
	})
	long := strings.Repeat("l", 10_000)
	must(t, c.Insert(t.Context(), pin{ID: 1, Owner: 1, Cell: 3, Note: "a", Text: long}))
	want := pin{ID: 1, Owner: 1, Cell: 5, Note: long + "b", Text: long}
	changed := map[string]any{"cell": int64(5), "note": want.Note}
	got, err := set(t, c, 1, changed, nil, docstore.Is[int64]("owner", 1))
	must(t, err)
	wantEqual(t, "returned", got, want)
	for cell, n := range map[int64]int64{3: 0, 5: 1} {
		wantEqual(t, "in the index", countOf(t, c, byCell.Is(cell).Everywhere()), n)
	}
	mark := map[string]any{"text": "marked"}
	for _, same := range []map[string]any{changed, {"cell": int64(5)}, {}} {
		got, err = set(t, c, 1, same, mark, docstore.Is[int64]("owner", 1))
		must(t, err)
		wantEqual(t, "unchanged", got, want)
	}
	_, err = set(t, c, 1, map[string]any{}, mark, docstore.Is[int64]("owner", 2))
	wantError(t, err, docstore.ErrConflict)
	want.Text, changed["cell"] = "marked", int64(6)
	want.Cell = 6
	got, err = set(t, c, 1, changed, mark)
	must(t, err)
	wantEqual(t, "changed", got, want)
	_, err = set(t, c, 1, changed, nil, docstore.Is[int64]("owner", 2))
	wantError(t, err, docstore.ErrConflict)
	_, err = set(t, c, 9, changed, nil, docstore.Is[int64]("owner", 2))
	wantError(t, err, docstore.ErrNotFound)
	for field, value := range map[string]any{"cell": "text", "owner": int64(3), "nowhere": int64(1)} {
		_, err = set(t, c, 1, map[string]any{field: value}, nil)
		wantPlain(t, err)
	}
	wantEqual(t, "stored", documentOf(t, c, 1), want)
}

func sparseCases() []testCase {
	return []testCase{
		{"a deletion and an update may require that a field is missing", requiresMissing},
	}
}

func advanceCases() []testCase {
	return []testCase{
		{"Plus adds to a field, and Modify returns what it and others were", advances},
		{"concurrent additions have ranges of their own", advancesTogether},
		{"Plus adds inside an embedded document and an array", advancesInside},
	}
}

// counting is a document with integers that may be missing.
type counting struct {
	ID   int64 `bson:"_id"`
	Last int64 `bson:"last,omitempty"`
	Seen int64 `bson:"seen,omitempty"`
}

func openCountings(t *testing.T, engine docstore.Engine) *docstore.Collection[int64, counting] {
	t.Helper()
	return openAs[counting](t, engine, docstore.Spec{Name: "countings", ID: docstore.Int64})
}

func advanced(t *testing.T, c *docstore.Collection[int64, counting], id, by int64) (before, seen int64, err error) {
	t.Helper()
	was, err := c.Modify(t.Context(), id, docstore.Edit{Set: map[string]any{"last": docstore.Plus(by)}})
	return was.Last, was.Seen, err
}

func advances(t *testing.T, engine docstore.Engine) {
	c := openCountings(t, engine)
	must(t, c.Insert(t.Context(), counting{ID: 1}))
	for _, step := range []struct{ by, seen, before int64 }{{5, 0, 0}, {0, 9, 5}, {64, 9, 5}, {1, 7, 69}} {
		updated(t, c, 1, func(stored *counting) { stored.Seen = step.seen })
		before, seen, err := advanced(t, c, 1, step.by)
		must(t, err)
		wantEqual(t, "before", []int64{before, seen}, []int64{step.before, step.seen})
	}
	wantEqual(t, "document", documentOf(t, c, 1), counting{ID: 1, Last: 70, Seen: 7})
	_, _, err := advanced(t, c, 2, 1)
	wantError(t, err, docstore.ErrNotFound)
}

// nested is a document with integers inside.
type nested struct {
	ID    int64   `bson:"_id"`
	Inner inner   `bson:"inner"`
	Rows  []inner `bson:"rows"`
}

type inner struct {
	Number int64  `bson:"number"`
	Text   string `bson:"text"`
}

func advancesInside(t *testing.T, engine docstore.Engine) {
	c := openAs[nested](t, engine, docstore.Spec{Name: "nested", ID: docstore.Int64})
	must(t, c.Insert(t.Context(), nested{ID: 1, Inner: inner{1, "a"}, Rows: []inner{{1, "b"}, {2, "c"}}}))
	before, err := c.Modify(t.Context(), 1, docstore.Edit{Set: map[string]any{"inner.number": docstore.Plus(5), "rows.1.number": docstore.Plus(-7)}})
	must(t, err)
	wantEqual(t, "before", before.Inner.Number, int64(1))
	wantEqual(t, "document", documentOf(t, c, 1), nested{ID: 1, Inner: inner{6, "a"}, Rows: []inner{{1, "b"}, {-5, "c"}}})
	for _, set := range []map[string]any{
		{"inner.other": docstore.Plus(1)}, {"rows.0.other": docstore.Plus(1)}, {"other.number": docstore.Plus(1)}, {"inner.number": int64(1)},
	} {
		_, err := c.Modify(t.Context(), 1, docstore.Edit{Set: set})
		wantPlain(t, err)
	}
}

func advancesTogether(t *testing.T, engine docstore.Engine) {
	const writers = 12
	c := openCountings(t, engine)
	must(t, c.Insert(t.Context(), counting{ID: 1}))
	var mu sync.Mutex
	var starts []int64
	at(writers, func(int) {
		before, _, err := advanced(t, c, 1, 3)
		if err != nil {
			t.Error(err)
		}
		mu.Lock()
		defer mu.Unlock()
		starts = append(starts, before)
	})
	slices.Sort(starts)
	for i, start := range starts {
		wantEqual(t, "start", start, int64(3*i))
	}
}

// flagged returns a place with a flag; 0 for none.
func flagged(id, flag int64) place {
	p := somePlace(id)
	p.Flag = flag
	return p
}

func requiresMissing(t *testing.T, engine docstore.Engine) {
	c := openPlaces(t, engine)
	insertAll(t, c, []place{flagged(1, 7), flagged(2, 0)})
	lacks := docstore.Lacks("flag")
	for id, want := range map[int64]error{1: docstore.ErrConflict, 2: nil, 3: docstore.ErrNotFound} {
		_, err := c.Modify(t.Context(), id, docstore.Edit{If: []docstore.Condition{lacks}, Set: map[string]any{"note": "changed"}})
		wantError(t, err, want)
		wantError(t, c.Delete(t.Context(), id, only(lacks, docstore.Is("note", "changed"))), want)
	}
	wantContents(t, c, []place{flagged(1, 7)})
}
