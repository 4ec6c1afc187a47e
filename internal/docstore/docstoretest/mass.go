package docstoretest

import (
	"slices"
	"testing"

	"github.com/waybook/waybook/internal/docstore"
)

func massCases(settings Settings) []testCase {
	return []testCase{
		{"Count counts the documents that have the given values", counts},
		{"DeleteAll deletes the documents that have the given values and no others", deletesAll},
		{"DeleteAll without values deletes everything", deletesEverything},
		{"DeleteAll deletes the documents in the ranges and no others", deletesRanges},
		{"DeleteAll of a range deletes any number of documents", func(t *testing.T, engine docstore.Engine) {
			deletesLongRange(t, engine, settings.Deleted)
		}},
		{"one call may insert, read and delete many documents", func(t *testing.T, engine docstore.Engine) {
			manyAtOnce(t, engine, settings.Many)
		}},
	}
}

func counts(t *testing.T, engine docstore.Engine) {
	c := openPlaces(t, engine)
	for index, want := range map[string]int64{docstore.IDIndex: 0, "by_owner": 0, "code": 0} {
		n, err := c.Count(t.Context(), docstore.All(index))
		must(t, err)
		wantEqual(t, index, n, want)
	}
	insertAll(t, c, somePlaces(1, 12))
	for _, o := range placeOrders() {
		for n := range 3 {
			equal := o.fields(somePlace(5))
			equal = equal[:min(n, len(equal))]
			got, err := c.Count(t.Context(), where(o.index, equal...))
			must(t, err)
			wantEqual(t, o.index, got, int64(len(o.pick(somePlaces(1, 12), equal))))
		}
	}
}

func deletesAll(t *testing.T, engine docstore.Engine) {
	c := openPlaces(t, engine)
	insertAll(t, c, somePlaces(1, 12))
	n, err := c.DeleteAll(t.Context(), byOwner().Is(1))
	must(t, err)
	wantEqual(t, "deleted", n, int64(4))
	n, err = c.DeleteAll(t.Context(), byOwner().Is(1))
	must(t, err)
	wantEqual(t, "deleted again", n, int64(0))
	n, err = c.DeleteAll(t.Context(), byOwnerTitle().Is(2, "title 1"))
	must(t, err)
	wantEqual(t, "deleted by two fields", n, int64(1))
	n, err = c.DeleteAll(t.Context(), where(docstore.IDIndex, number(12)))
	must(t, err)
	wantEqual(t, "deleted by id", n, int64(1))
	wantContents(t, c, []place{somePlace(2), somePlace(3), somePlace(6), somePlace(8), somePlace(9), somePlace(11)})
}

func deletesEverything(t *testing.T, engine docstore.Engine) {
	c := openPlaces(t, engine)
	insertAll(t, c, somePlaces(1, 12))
	n, err := c.DeleteAll(t.Context(), byTitle().All())
	must(t, err)
	wantEqual(t, "deleted", n, int64(12))
	wantContents(t, c, []place{})
	insertAll(t, c, somePlaces(1, 2))
	wantContents(t, c, somePlaces(1, 2))
}

func deletesRanges(t *testing.T, engine docstore.Engine) {
	places := somePlaces(1, 20)
	for _, o := range placeOrders() {
		for n := range o.fields(places[0]) {
			equal := o.fields(places[10])[:n]
			selected := o.pick(places, equal)
			for name, spans := range someSpans(quarters(o, n, selected)) {
				c := openPlaces(t, engine)
				_, err := c.DeleteAll(t.Context(), docstore.All(docstore.IDIndex))
				must(t, err)
				insertAll(t, c, places)
				doomed := o.cut(selected, n, spans...)
				deleted, err := c.DeleteAll(t.Context(), where(o.index, equal...).Within(spans...))
				must(t, err)
				wantEqual(t, o.index+", "+name, deleted, int64(len(doomed)))
				left := slices.DeleteFunc(slices.Clone(places), func(p place) bool { return slices.Contains(doomed, p) })
				wantEqual(t, "left by "+o.index+", "+name, walk(t, c, docstore.Query{Where: docstore.All(docstore.IDIndex), Limit: 50}), left)
			}
		}
	}
}

// deletesLongRange deletes the documents that expired, in the order of an index that many of
// them share a value of.
func deletesLongRange(t *testing.T, engine docstore.Engine, many int) {
	c := openPlaces(t, engine)
	var places []place
	for id := range int64(many) {
		p := somePlace(id)
		p.Owner = id / 7
		places = append(places, p)
	}
	insertAll(t, c, places)
	last := int64(many)/7 - 5
	n, err := c.DeleteAll(t.Context(), byOwner().In(docstore.UpTo(last)))
	must(t, err)
	wantEqual(t, "deleted", n, 7*(last+1))
	n, err = c.DeleteAll(t.Context(), byOwner().In(docstore.UpTo(last)))
	must(t, err)
	wantEqual(t, "deleted again", n, int64(0))
	wantContents(t, c, places[7*(last+1):])
}

func manyAtOnce(t *testing.T, engine docstore.Engine, many int) {
	c := openPlaces(t, engine)
	places := somePlaces(1, int64(many))
	insertAll(t, c, places)
	got := walk(t, c, docstore.Query{Where: docstore.All(docstore.IDIndex), Limit: many - 1})
	wantEqual(t, "documents in a page", got, places)
	var ids []int64
	for _, p := range places {
		ids = append(ids, p.ID)
	}
	read, err := c.GetMany(t.Context(), ids)
	must(t, err)
	wantEqual(t, "documents by id", len(read), many)
	must(t, c.Insert(t.Context(), place{ID: -1, Owner: -1, Code: "stays"}))
	for owner := range int64(3) {
		_, err := c.DeleteAll(t.Context(), byOwnerSlot().First(owner))
		must(t, err)
	}
	wantContents(t, c, []place{{ID: -1, Owner: -1, Code: "stays"}})
}
