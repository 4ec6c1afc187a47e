package conformance

import (
	"testing"

	"github.com/waybook/waybook/internal/docstore"
)

func updateManyRunsAgain(t *testing.T, engine docstore.Engine) {
	c := placesWith(t, engine, somePlaces(1, 3)...)
	calls := make(map[int64]int)
	must(t, c.UpdateMany(t.Context(), []int64{1, 2, 3}, func(p *place) bool {
		if p.Note == "done" {
			return false
		}
		if calls[p.ID]++; p.ID == 2 && calls[2] <= 2 {
			updated(t, c, 2, func(p *place) { p.Title += "!" })
		}
		p.Note = "done"
		p.Seen++
		return true
	}))
	wantEqual(t, "calls", calls, map[int64]int{1: 1, 2: 3, 3: 1})
	want := somePlaces(1, 3)
	for i := range want {
		want[i].Note, want[i].Seen = "done", 1
	}
	want[1].Title += "!!"
	wantContents(t, c, want)
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
	wantEqual(t, "deleted", deleteWhere(t, c, byOwner().In(docstore.UpTo(last))), 7*(last+1))
	wantEqual(t, "deleted again", deleteWhere(t, c, byOwner().In(docstore.UpTo(last))), int64(0))
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
		deleteWhere(t, c, byOwnerSlot().First(owner))
	}
	wantContents(t, c, []place{{ID: -1, Owner: -1, Code: "stays"}})
}
