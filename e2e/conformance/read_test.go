package conformance

import (
	"math"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/waybook/waybook/internal/docstore"
)

func readCases() []testCase {
	return []testCase{
		{"a document is read back as it was stored", comesBack},
		{"a key that no document has is not found", unknownKey},
		{"Find returns the first document in the order of the index", findsFirst},
		{"GetMany returns each document that exists once", getMany},
		{"an indexed integer of 32 bits is found and sorted by its value", smallIntegers},
		{"a selection or an id that does not fit the declaration is refused", misfitSelections},
		{"an undeclared index is refused", undeclaredIndex},
		{"the caller may change documents that a table returns", callersOwn},
		{"collections are independent of each other", collectionsApart},
	}
}

func comesBack(t *testing.T, engine docstore.Engine) {
	type nested struct {
		Lat  float64 `bson:"lat"`
		Tags []string
		Raw  []byte
	}
	type rich struct {
		ID    int64 `bson:"_id"`
		Flag  bool  `bson:"flag"`
		Small int32
		Big   int64
		Inner nested
		None  *int64
	}
	c := openAs[rich](t, engine, docstore.Spec{Name: "rich", ID: docstore.Int64})
	want := rich{
		ID: 1<<53 - 1, Flag: true, Small: -5, Big: -1 << 62,
		Inner: nested{Lat: 25.033964, Tags: []string{"", "山", "🏔️"}, Raw: []byte{0, 255, 1}},
	}
	must(t, c.Insert(t.Context(), want))
	wantEqual(t, "document", documentOf(t, c, want.ID), want)
}

func unknownKey(t *testing.T, engine docstore.Engine) {
	c := placesWith(t, engine, somePlace(1))
	_, err := c.Find(t.Context(), byCode().Is("code"))
	wantError(t, err, docstore.ErrNotFound)
	_, err = c.Find(t.Context(), byOwnerSlot().Is(1, 2))
	wantError(t, err, docstore.ErrNotFound)
}

func findsFirst(t *testing.T, engine docstore.Engine) {
	c := placesWith(t, engine, somePlaces(1, 12)...)
	got, err := c.Find(t.Context(), byOwner().Is(2))
	must(t, err)
	wantEqual(t, "by owner", got, somePlace(2))
	got, err = c.Find(t.Context(), byOwnerSlot().Is(1, 7))
	must(t, err)
	wantEqual(t, "by owner and slot", got, somePlace(7))
	got, err = c.Find(t.Context(), byOwnerTitle().All())
	must(t, err)
	wantEqual(t, "by owner and title", got, somePlace(12))
}

func getMany(t *testing.T, engine docstore.Engine) {
	c := placesWith(t, engine, somePlaces(1, 5)...)
	got, err := c.GetMany(t.Context(), []int64{5, 9, 1, 5, -1, 1, 3})
	must(t, err)
	byID := placeOrders()[0]
	wantEqual(t, "documents", byID.pick(got, nil), []place{somePlace(1), somePlace(3), somePlace(5)})
	none, err := c.Count(t.Context(), docstore.WithIDs())
	wantEqual(t, "documents without an id", none, int64(0))
	must(t, err)
	got, err = c.GetMany(t.Context(), nil)
	must(t, err)
	wantEqual(t, "number of documents for no id", len(got), 0)
	got, err = c.GetMany(t.Context(), []int64{8, 9})
	must(t, err)
	wantEqual(t, "number of documents for unknown ids", len(got), 0)
}

func smallIntegers(t *testing.T, engine docstore.Engine) {
	type small struct {
		ID    int64 `bson:"_id"`
		Owner int32 `bson:"owner"`
	}
	c := openAs[small](t, engine, docstore.Spec{Name: "small", ID: docstore.Int64, Indexes: []docstore.Index{byOwner().Declare()}})
	var all []small
	for i, owner := range []int32{7, -3, math.MaxInt32, 7, math.MinInt32} {
		all = append(all, small{ID: int64(i + 1), Owner: owner})
	}
	insertAll(t, c, all)
	wantEqual(t, "all", walk(t, c, docstore.Query{Where: byOwner().All(), Limit: 2}), []small{all[4], all[1], all[0], all[3], all[2]})
	wantEqual(t, "those of 7", walk(t, c, docstore.Query{Where: byOwner().Is(7), Limit: 2}), []small{all[0], all[3]})
	updated(t, c, 2, func(s *small) { s.Owner = 8 })
	between := byOwner().In(docstore.Between[int64](-3, 8))
	wantEqual(t, "those of a range", walk(t, c, docstore.Query{Where: between, Limit: 2}), []small{all[0], all[3], {2, 8}})
}

func misfitSelections(t *testing.T, engine docstore.Engine) {
	c := placesWith(t, engine, somePlaces(1, 3)...)
	table := openTable(t, engine, placeSpec())
	for _, id := range []docstore.Value{text("1"), {}} {
		_, err := docstore.GetFrom(t.Context(), table, id, docstore.Present)
		wantPlain(t, err)
		_, err = docstore.GetFrom(t.Context(), table, id, docstore.Linearizable)
		wantPlain(t, err)
		_, _, err = table.Scan(t.Context(), docstore.Scan{Where: docstore.WithIDs(number(1), id), Limit: 2})
		wantPlain(t, err)
		wantPlain(t, updateOf(t, table, docstore.Change{ID: id, Revision: 1}))
		_, err = table.Update(t.Context(), docstore.Change{ID: id, IsWhole: true, Add: []docstore.Amount{{Field: "seen", By: 1}}})
		wantPlain(t, err)
		wantPlain(t, table.Delete(t.Context(), docstore.Deletion{ID: id}))
	}
	for _, misfit := range []docstore.Where{
		where("code", number(1)),
		where("by_owner", text("1")),
		where("by_owner", docstore.Value{}),
		where("by_owner", number(1), number(2), number(3)),
		where(docstore.IDIndex, text("1")),
	} {
		_, err := c.Find(t.Context(), misfit)
		wantPlain(t, err)
		_, err = c.Count(t.Context(), misfit)
		wantPlain(t, err)
		_, err = c.DeleteAll(t.Context(), misfit)
		wantPlain(t, err)
		_, err = c.Page(t.Context(), docstore.Query{Where: misfit, Limit: 1})
		wantPlain(t, err)
	}
	for _, several := range []docstore.Where{byOwner().Is(1), docstore.WithIDs(number(1), number(2)), docstore.WithIDs()} {
		_, _, err := table.Scan(t.Context(), docstore.Scan{Where: several, Limit: 1, As: docstore.Recent(time.Minute)})
		wantPlain(t, err)
	}
	_, err := docstore.Open[string, place](t.Context(), engine, placeSpec())
	wantPlain(t, err)
	wantContents(t, c, somePlaces(1, 3))
}

func undeclaredIndex(t *testing.T, engine docstore.Engine) {
	c := openPlaces(t, engine)
	_, err := c.Find(t.Context(), where("by_note", text("x")))
	wantPlain(t, err)
	_, err = c.Page(t.Context(), docstore.Query{Where: docstore.All("by_note"), Limit: 1})
	wantPlain(t, err)
	_, err = c.Count(t.Context(), docstore.Where{})
	wantPlain(t, err)
	_, err = c.DeleteAll(t.Context(), docstore.All("by_note"))
	wantPlain(t, err)
}

func callersOwn(t *testing.T, engine docstore.Engine) {
	c := placesWith(t, engine, somePlaces(1, 3)...)
	table := openTable(t, engine, placeSpec())
	one := rawOf(t, table, 1)
	many, _ := scanRaw(t, table, docstore.Scan{Where: docstore.WithIDs(number(2), number(3)), Limit: 2})
	scanned, _ := scanRaw(t, table, docstore.Scan{Where: byCode().All(), Limit: 3})
	scanned[0] = append(scanned[0], "more"...)
	_, err := scanned[1].Elements()
	must(t, err)
	for _, raw := range append(append(many, one), scanned...) {
		clear([]byte(raw))
	}
	_ = append(bson.Raw(nil), one...)
	wantContents(t, c, somePlaces(1, 3))
}

func collectionsApart(t *testing.T, engine docstore.Engine) {
	c := openPlaces(t, engine)
	spec := placeSpec()
	spec.Name = "places_too"
	other := openAs[place](t, engine, spec)
	insertAll(t, c, somePlaces(1, 4))
	insertAll(t, other, somePlaces(3, 8))
	_ = deleteWhere(t, other, byOwner().Is(0))
	wantContents(t, c, somePlaces(1, 4))
	wantContents(t, other, []place{somePlace(4), somePlace(5), somePlace(7), somePlace(8)})
}
