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

// tally is a document with integers that may be missing.
type tally struct {
	ID    int64  `bson:"_id"`
	Title string `bson:"title"`
	Stars int64  `bson:"stars,omitempty"`
	Last  int64  `bson:"last,omitempty"`
}

type tallies = docstore.Collection[int64, tally]

func openTallies(t *testing.T, engine docstore.Engine, stored ...tally) *tallies {
	t.Helper()
	c := openAs[tally](t, engine, docstore.Spec{Name: "tallies", ID: docstore.Int64})
	insertAll(t, c, stored)
	return c
}

func stars(to int64) docstore.Amount { return docstore.Amount{Field: "stars", By: to} }

// seenBy raises the field of a document.
func seenBy[T any](t *testing.T, c *docstore.Collection[int64, T], id, to int64) error {
	t.Helper()
	_, err := raise(t.Context(), c, id, docstore.Amount{Field: "seen", By: to}, nil)
	return err
}

func advanced(t *testing.T, c *tallies, id, by int64) (before tally, err error) {
	t.Helper()
	return c.Modify(t.Context(), id, docstore.Edit{Set: map[string]any{"last": docstore.Plus(by)}})
}

func raises(t *testing.T, engine docstore.Engine) {
	c := openTallies(t, engine, tally{ID: 1, Title: "t"}, tally{ID: 3})
	for _, step := range []struct{ to, want int64 }{{5, 0}, {3, 5}, {5, 5}, {6, 5}, {-1, 6}} {
		got, err := raise(t.Context(), c, 1, stars(step.to), nil)
		must(t, err)
		wantEqual(t, "before", got, step.want)
	}
	for _, step := range []struct{ by, before int64 }{{5, 0}, {0, 5}, {64, 5}, {1, 69}} {
		before, err := advanced(t, c, 1, step.by)
		must(t, err)
		wantEqual(t, "before", before, tally{ID: 1, Title: "t", Stars: 6, Last: step.before})
	}
	wantEqual(t, "document", documentOf(t, c, 1), tally{ID: 1, Title: "t", Stars: 6, Last: 70})
	_, err := raise(t.Context(), c, 2, stars(1), nil)
	wantError(t, err, docstore.ErrNotFound)
	_, err = advanced(t, c, 2, 1)
	wantError(t, err, docstore.ErrNotFound)
	_, err = raise(t.Context(), c, 3, stars(-2), nil)
	must(t, err)
	wantEqual(t, "a missing field", documentOf(t, c, 3), tally{ID: 3, Stars: -2})
}

// countsOf returns the revision of a place, and how many changes left it alone.
func countsOf(t *testing.T, engine docstore.Engine, id int64) [2]int64 {
	t.Helper()
	raw := rawOf(t, openTable(t, engine, placeSpec()), id)
	adds, _ := raw.Lookup(docstore.AddsField).Int64OK()
	return [2]int64{raw.Lookup(docstore.RevisionField).Int64(), adds}
}

func raiseCounts(t *testing.T, engine docstore.Engine) {
	c := placesWith(t, engine, somePlaces(1, 3)...)
	for _, to := range []int64{5, -7, 5} {
		must(t, seenBy(t, c, 2, to))
	}
	want := somePlace(2)
	want.Seen = 5
	wantContents(t, c, []place{somePlace(1), want, somePlace(3)})
	wantEqual(t, "revision and raises", countsOf(t, engine, 2), [2]int64{1, 3})
	_, err := raise(t.Context(), c, 2, docstore.Amount{Field: "seen", By: 6}, map[string]any{"note": "n"})
	must(t, err)
	wantEqual(t, "revision and raises", countsOf(t, engine, 2), [2]int64{2, 3})
}

// titled sets the title of a tally that has another one.
func titled(t *testing.T, c *tallies, from, to string) error {
	t.Helper()
	_, err := raise(t.Context(), c, 1, stars(1), map[string]any{"title": to}, docstore.Is("title", from))
	return err
}

func raisesOnCondition(t *testing.T, engine docstore.Engine) {
	c := openTallies(t, engine, tally{ID: 1, Title: "a"})
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
	c := openTallies(t, engine, tally{ID: 1, Title: "a"})
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

// raisesAndUpdates has writers of each kind. Each addition has a range of its own.
func raisesAndUpdates(t *testing.T, engine docstore.Engine) {
	const writers, each = 16, 4
	c := openPlaces(t, engine)
	first := somePlace(1)
	first.Slot = 0
	must(t, c.Insert(t.Context(), first))
	var updates atomic.Int64
	var mu sync.Mutex
	var starts []int64
	at(writers, func(i int) {
		for n := range int64(each) {
			var err error
			switch i % 4 {
			case 0:
				updates.Add(1)
				_, err = c.Update(t.Context(), 1, func(p *place) error { p.Slot++; return nil })
			case 1:
				updates.Add(1)
				err = c.UpdateMany(t.Context(), []int64{1}, func(p *place) bool { p.Slot++; return true })
			case 2:
				err = seenBy(t, c, 1, int64(i)*each+n)
			default:
				var before place
				before, err = c.Modify(t.Context(), 1, docstore.Edit{Set: map[string]any{"flag": docstore.Plus(3)}})
				mu.Lock()
				starts = append(starts, before.Flag)
				mu.Unlock()
			}
			if err != nil {
				t.Error(err)
			}
		}
	})
	slices.Sort(starts)
	for i, start := range starts {
		wantEqual(t, "start", start, first.Flag+int64(3*i))
	}
	want := first
	want.Slot, want.Seen, want.Flag = updates.Load(), 14*each+each-1, first.Flag+3*int64(len(starts))
	wantContents(t, c, []place{want})
}

// pin is a document with an integer in an index that is not unique.
type pin struct {
	ID    int64  `bson:"_id"`
	Owner int64  `bson:"owner"`
	Cell  int64  `bson:"cell"`
	Note  string `bson:"note"`
	Text  string `bson:"text"`
}

func sets(t *testing.T, engine docstore.Engine) {
	byCell, byOwner := docstore.Index1[int64]{Name: "cell", A: "cell"}, docstore.Index1[int64]{Name: "owner", A: "owner"}
	c := openAs[pin](t, engine, docstore.Spec{
		Name: "pins", ID: docstore.Int64, Sharding: docstore.ByPlace, Scheme: id.Scheme{}, PlaceFields: []string{"owner"},
		Indexes: []docstore.Index{byCell.Declare(), byOwner.Declare()},
	})
	long := strings.Repeat("l", 10_000)
	stored := pin{ID: 1, Owner: 1, Cell: 3, Note: "a", Text: long}
	must(t, c.Insert(t.Context(), stored))
	mine, others := []docstore.Condition{docstore.Is[int64]("owner", 1)}, []docstore.Condition{docstore.Is[int64]("owner", 2)}
	both, mark := map[string]any{"cell": int64(5), "note": long + "b"}, map[string]any{"text": "marked"}
	after := pin{ID: 1, Owner: 1, Cell: 5, Note: long + "b", Text: long}
	moved := after
	moved.Cell, moved.Text = 6, "marked"
	for _, step := range []struct {
		id   int64
		edit docstore.Edit
		want pin
		err  error
	}{
		{1, docstore.Edit{Set: both, If: mine}, after, nil},
		{1, docstore.Edit{Set: both, If: mine, Mark: mark}, after, nil}, // changes nothing
		{1, docstore.Edit{Set: map[string]any{"cell": int64(5)}, Mark: mark}, after, nil},
		{1, docstore.Edit{Set: map[string]any{}, If: mine, Mark: mark}, after, nil},
		{1, docstore.Edit{Set: map[string]any{}, If: others, Mark: mark}, after, docstore.ErrConflict},
		{1, docstore.Edit{Set: map[string]any{"cell": int64(6), "note": after.Note}, Mark: mark}, moved, nil},
		{1, docstore.Edit{Set: both, If: others}, moved, docstore.ErrConflict},
		{9, docstore.Edit{Set: both, If: others}, moved, docstore.ErrNotFound},
	} {
		before, err := c.Modify(t.Context(), step.id, step.edit)
		if wantError(t, err, step.err); err == nil {
			wantEqual(t, "before", before, stored)
		}
		stored = documentOf(t, c, 1)
		wantEqual(t, "stored", stored, step.want)
		for _, cell := range []int64{3, 5, 6} {
			wantEqual(t, "in the index", countOf(t, c, byCell.Is(cell).Everywhere()) == 1, cell == stored.Cell)
		}
	}
	for field, value := range map[string]any{"cell": "text", "owner": int64(3), "nowhere": int64(1)} {
		_, err := c.Modify(t.Context(), 1, docstore.Edit{Set: map[string]any{field: value}})
		wantPlain(t, err)
	}
	wantEqual(t, "stored", documentOf(t, c, 1), moved)
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

func modifiesMany(t *testing.T, engine docstore.Engine) {
	c := placesWith(t, engine, somePlaces(1, 4)...)
	seen := map[string]any{"seen": docstore.Plus(2)}
	made, err := c.ModifyMany(t.Context(), map[int64]docstore.Edit{
		1: {Set: seen}, 2: {Set: map[string]any{"note": "changed"}}, 3: {If: []docstore.Condition{docstore.Is("seen", int64(1))}, Set: seen}, 9: {Set: seen},
	})
	must(t, err)
	wantEqual(t, "made", made, int64(2))
	want := somePlaces(1, 4)
	want[0].Seen, want[1].Note = want[0].Seen+2, "changed"
	wantContents(t, c, want)
	made, err = c.ModifyMany(t.Context(), nil)
	must(t, err)
	wantEqual(t, "made of none", made, int64(0))
}

func requiresMissing(t *testing.T, engine docstore.Engine) {
	flagged, plain := somePlace(1), somePlace(2)
	flagged.Flag, plain.Flag = 7, 0
	c := placesWith(t, engine, flagged, plain)
	lacks := docstore.Lacks("flag")
	for id, want := range map[int64]error{1: docstore.ErrConflict, 2: nil, 3: docstore.ErrNotFound} {
		_, err := c.Modify(t.Context(), id, docstore.Edit{If: []docstore.Condition{lacks}, Set: map[string]any{"note": "changed"}})
		wantError(t, err, want)
		wantError(t, c.Delete(t.Context(), id, only(lacks, docstore.Is("note", "changed"))), want)
	}
	wantContents(t, c, []place{flagged})
}
