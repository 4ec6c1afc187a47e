package conformance

import (
	"math"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/waybook/waybook/internal/docstore"
)

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
	refused := func(_ []bson.Raw, _ bool, err error) { t.Helper(); wantPlain(t, err) }
	for _, id := range []docstore.Value{text("1"), {}} {
		for _, as := range []docstore.Consistency{docstore.Present, docstore.Linearizable} {
			_, err := docstore.GetFrom(t.Context(), table, id, as)
			wantPlain(t, err)
		}
		refused(table.Scan(t.Context(), docstore.Scan{Where: docstore.WithIDs(number(1), id), Limit: 2}))
		wantPlain(t, updateOf(t, table, docstore.Change{ID: id, Revision: 1}))
		_, err := table.Update(t.Context(), docstore.Change{ID: id, IsWhole: true, Add: []docstore.Amount{{Field: "seen", By: 1}}})
		wantPlain(t, err)
		wantPlain(t, table.Delete(t.Context(), docstore.Deletion{ID: id}))
	}
	for _, misfit := range []docstore.Where{
		where("code", number(1)), where("by_owner", text("1")), where("by_owner", docstore.Value{}),
		where("by_owner", number(1), number(2), number(3)), where(docstore.IDIndex, text("1")), {}, docstore.All("by_note"), where("by_note", text("x")),
		byOwner().All().Within(docstore.Span{From: text("1")}), byOwner().All().Within(docstore.Span{From: number(1)}, docstore.Span{To: text("1")}),
		byTitle().All().Within(docstore.Span{From: number(1)}), byOwnerTitle().First(1).Within(docstore.Span{To: number(1)}),
		where("by_owner", number(1), number(1)).Within(docstore.Span{From: number(1)}),
	} {
		_, err := c.Find(t.Context(), misfit)
		wantPlain(t, err)
		_, err = c.Count(t.Context(), misfit)
		wantPlain(t, err)
		_, err = c.DeleteAll(t.Context(), misfit)
		wantPlain(t, err)
		_, err = c.Page(t.Context(), docstore.Query{Where: misfit, Limit: 1})
		wantPlain(t, err)
		refused(table.Scan(t.Context(), docstore.Scan{Where: misfit, Limit: 1}))
	}
	for _, after := range [][]docstore.Value{{}, {number(1)}, {text("1"), number(1)}, {number(1), number(1), number(1)}} {
		refused(table.Scan(t.Context(), docstore.Scan{Where: byOwner().All(), After: after, Limit: 1}))
	}
	for _, several := range []docstore.Where{byOwner().Is(1), docstore.WithIDs(number(1), number(2)), docstore.WithIDs()} {
		refused(table.Scan(t.Context(), docstore.Scan{Where: several, Limit: 1, As: docstore.Recent(time.Minute)}))
	}
	for _, limit := range []int{0, -1, math.MinInt} {
		_, err := c.Page(t.Context(), docstore.Query{Where: byCode().All(), Limit: limit})
		wantPlain(t, err)
		refused(table.Scan(t.Context(), docstore.Scan{Where: byCode().All(), Limit: limit}))
	}
	_, err := docstore.Open[string, place](t.Context(), engine, placeSpec())
	wantPlain(t, err)
	wantContents(t, c, somePlaces(1, 3))
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
