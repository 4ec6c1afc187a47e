package conformance

import (
	"fmt"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/waybook/waybook/internal/docstore"
)

func manyCases() []testCase {
	return []testCase{
		{"UpdateMany of a table skips other revisions and reports how many changes it made", updateManySkips},
		{"UpdateMany changes the documents that exist and for which change returns true", updateManyChanges},
		{"UpdateMany runs again for the documents that another writer changed", updateManyRunsAgain},
		{"concurrent UpdateMany of the same documents all take effect", updateManyAtOnce},
		{"UpdateMany must not modify an id", updateManyChangedID},
		{"ModifyMany makes the edits whose conditions hold", modifiesMany},
		{"a linearizable Get returns a document as last written", getLinearizable},
		{"a linearizable Page returns documents as last written", pagesLinearizable},
		{"Answered returns the document of a request in its current state", answered},
	}
}

func updateManySkips(t *testing.T, engine docstore.Engine) {
	c := placesWith(t, engine, somePlaces(1, 5)...)
	updated(t, c, 3, func(p *place) { p.Seen = 1 })
	table := openTable(t, engine, placeSpec())
	var changes []docstore.Change
	for id := int64(0); id <= 5; id++ { // none has the id 0
		changes = append(changes, setting(t, id, 1, bson.E{Key: "title", Value: "changed"}, bson.E{Key: "owner", Value: int64(9)}))
	}
	changes[5].Revision = 2
	made, err := table.UpdateMany(t.Context(), changes)
	must(t, err)
	wantEqual(t, "made", made, int64(3))
	want := somePlaces(1, 5)
	want[2].Seen = 1
	for _, i := range []int{0, 1, 3} {
		want[i].Title, want[i].Owner = "changed", 9
	}
	wantContents(t, c, want)
	made, err = table.UpdateMany(t.Context(), changes)
	must(t, err)
	wantEqual(t, "made again", made, int64(0))
	made, err = table.UpdateMany(t.Context(), nil)
	must(t, err)
	wantEqual(t, "made of none", made, int64(0))
	wantContents(t, c, want)
}

func updateManyChanges(t *testing.T, engine docstore.Engine) {
	c := placesWith(t, engine, somePlaces(1, 6)...)
	calls := 0
	must(t, c.UpdateMany(t.Context(), []int64{6, 2, 77, 3}, func(p *place) bool {
		calls++
		p.Note, p.Owner = "changed", p.Owner+10
		return p.ID != 3
	}))
	wantEqual(t, "calls", calls, 3)
	want := somePlaces(1, 6)
	for _, i := range []int{1, 5} {
		want[i].Note, want[i].Owner = "changed", want[i].Owner+10
	}
	wantContents(t, c, want)
	must(t, c.UpdateMany(t.Context(), nil, func(*place) bool { t.Error("called for no document"); return true }))
}

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

// updateManyAtOnce gives each writer a mark of its own, which it sets once in each place.
func updateManyAtOnce(t *testing.T, engine docstore.Engine) {
	const writers, documents = 16, 5
	c := openPlaces(t, engine)
	var ids []int64
	for id := range int64(documents) {
		p := somePlace(id)
		p.Note = ""
		must(t, c.Insert(t.Context(), p))
		ids = append(ids, id)
	}
	at(writers, func(i int) {
		mark := string(rune('a' + i))
		err := c.UpdateMany(t.Context(), ids, func(p *place) bool {
			if strings.Contains(p.Note, mark) {
				return false
			}
			p.Note += mark
			return true
		})
		if err != nil {
			t.Error(err)
		}
	})
	for _, id := range ids {
		got := documentOf(t, c, id)
		wantEqual(t, "number of marks in "+got.Note, len(got.Note), writers)
	}
}

func updateManyChangedID(t *testing.T, engine docstore.Engine) {
	c := placesWith(t, engine, somePlaces(1, 2)...)
	wantPlain(t, c.UpdateMany(t.Context(), []int64{1}, func(p *place) bool { p.ID = 3; return true }))
	wantContents(t, c, somePlaces(1, 2))
}

func modifiesMany(t *testing.T, engine docstore.Engine) {
	c := placesWith(t, engine, somePlaces(1, 4)...)
	if1 := []docstore.Condition{docstore.Is("seen", int64(1))}
	made, err := c.ModifyMany(t.Context(), map[int64]docstore.Edit{
		1: {Set: map[string]any{"seen": docstore.Plus(2)}}, 2: {Set: map[string]any{"note": "changed"}},
		3: {If: if1, Set: map[string]any{"seen": docstore.Plus(2)}}, 9: {Set: map[string]any{"seen": docstore.Plus(2)}},
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

func pagesLinearizable(t *testing.T, engine docstore.Engine) {
	c := placesWith(t, engine, somePlaces(1, 5)...)
	updated(t, c, 2, func(p *place) { p.Note = "changed" })
	must(t, c.Delete(t.Context(), 4))
	want := walk(t, c, docstore.Query{Where: docstore.All(docstore.IDIndex), Limit: 10})
	wantEqual(t, "all", walk(t, c, docstore.Query{Where: docstore.All(docstore.IDIndex), Limit: 2, As: docstore.Linearizable}), want)
	got, err := c.GetMany(t.Context(), []int64{1, 2, 4}, docstore.Linearizable)
	must(t, err)
	wantEqual(t, "some", len(got), 2)
}

func getLinearizable(t *testing.T, engine docstore.Engine) {
	c := placesWith(t, engine, somePlaces(1, 2)...)
	written := updated(t, c, 1, func(p *place) { p.Note = "changed" })
	must(t, c.Delete(t.Context(), 2))
	got, err := c.Get(t.Context(), 1, docstore.Linearizable)
	must(t, err)
	wantEqual(t, "document", got, written)
	for _, id := range []int64{2, 3} {
		_, err = c.Get(t.Context(), id, docstore.Linearizable)
		wantError(t, err, docstore.ErrNotFound)
	}
	for id, size := range []int{1000, 10_000, 300_000} {
		large := sizedPlaces(t, size)[0]
		large.ID, large.Code, large.Slot = int64(id+10), fmt.Sprint("large ", id), int64(id+10)
		must(t, c.Insert(t.Context(), large))
		got, err := c.Get(t.Context(), large.ID, docstore.Linearizable)
		must(t, err)
		if got != large {
			t.Errorf("a document of %d bytes was read with other contents", size)
		}
		must(t, c.Delete(t.Context(), large.ID))
	}
	raw, err := docstore.GetFrom(t.Context(), openTable(t, engine, placeSpec()), number(1), docstore.Linearizable)
	must(t, err)
	clear([]byte(raw)) // the caller owns it
	wantContents(t, c, []place{written})
}

func answered(t *testing.T, engine docstore.Engine) {
	c := openMembers(t, engine)
	ask := func(requestID string) (member, bool) {
		t.Helper()
		found, isAnswered, err := docstore.Answered(t.Context(), c, docstore.Request{By: byRequest().All(), ID: requestID})
		must(t, err)
		return found, isAnswered
	}
	_, _, err := create(t, c, drawing(1), "r", "a")
	must(t, err)
	_, _, err = create(t, c, drawing(2), "", "b")
	must(t, err)
	changed := updated(t, c, 1, func(m *member) { m.Email = "c" })
	if got, found := ask("r"); !found || got != changed {
		t.Errorf("got %+v, %v", got, found)
	}
	for _, requestID := range []string{"", "another", "#3"} {
		if got, found := ask(requestID); found {
			t.Errorf("request %q: got %+v", requestID, got)
		}
	}
	must(t, c.Delete(t.Context(), 1))
	if got, found := ask("r"); found {
		t.Errorf("after the deletion: got %+v", got)
	}
}

func massCases(settings suiteSettings) []testCase {
	return []testCase{
		{"DeleteAll of a range deletes any number of documents", func(t *testing.T, engine docstore.Engine) {
			deletesLongRange(t, engine, settings.deleted)
		}},
		{"one call may insert, read and delete many documents", func(t *testing.T, engine docstore.Engine) {
			manyAtOnce(t, engine, settings.many)
		}},
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
