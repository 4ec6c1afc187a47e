package conformance

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/id"
)

// grave is a document of a collection with tombstones.
type grave struct {
	ID         int64  `bson:"_id"`
	RequestKey string `bson:"request_key"`
	Email      string `bson:"email"`
	Owner      int64  `bson:"owner"`
	Title      string `bson:"title"`
	Seen       int64  `bson:"seen"`
	Stars      int64  `bson:"stars"`
}

type graves = docstore.Collection[int64, grave]

func byEmail() docstore.Index1[string] {
	return docstore.Index1[string]{Name: "email", A: "email", Unique: true}
}

func byStars() docstore.Index1[int64] { return docstore.Index1[int64]{Name: "stars", A: "stars"} }

func graveSpec() docstore.Spec {
	return docstore.Spec{
		Name: "graves", ID: docstore.Int64, Scheme: id.Scheme{}, Tombstones: true,
		Indexes: []docstore.Index{byRequest().Declare(), byEmail().Declare(), byOwner().Declare(), byStars().Declare()},
	}
}

// someGraves opens the collection with documents 1 to n.
func someGraves(t *testing.T, engine docstore.Engine, n int64) *graves {
	t.Helper()
	c := openAs[grave](t, engine, graveSpec())
	var documents []grave
	for id := int64(1); id <= n; id++ {
		key := string(rune('a' + id - 1))
		documents = append(documents, grave{ID: id, RequestKey: key, Email: key + "@", Owner: 7, Title: "title " + key, Stars: id})
	}
	insertAll(t, c, documents)
	return c
}

func graveIDs(documents []grave) (ids []int64) {
	for _, each := range documents {
		ids = append(ids, each.ID)
	}
	return ids
}

func goneForAll(t *testing.T, engine docstore.Engine) {
	c := someGraves(t, engine, 3)
	must(t, c.Delete(t.Context(), 2))
	wantError(t, c.Delete(t.Context(), 2), docstore.ErrNotFound)
	table := openTable(t, engine, graveSpec())
	revision, err := docstore.RevisionOf(withTombstones(t, engine)[1])
	must(t, err)
	late := setting(t, 2, revision, bson.E{Key: "owner", Value: int64(7)}) // expects the revision of the tombstone
	wantError(t, updateOf(t, table, late), docstore.ErrNotFound)
	made, err := table.UpdateMany(t.Context(), []docstore.Change{late})
	must(t, err)
	wantEqual(t, "made", made, int64(0))
	for _, get := range []func() (grave, error){
		func() (grave, error) { return c.Get(t.Context(), 2) },
		func() (grave, error) { return c.Get(t.Context(), 2, docstore.Linearizable) },
		func() (grave, error) { return c.Get(t.Context(), 2, docstore.Recent(time.Minute)) },
		func() (grave, error) { return c.Find(t.Context(), byRequest().Is("b")) },
		func() (grave, error) { return c.Find(t.Context(), byEmail().Is("b@")) },
		func() (grave, error) {
			return c.Update(t.Context(), 2, func(g *grave) error { g.Title = "x"; return nil })
		},
		func() (grave, error) { return grave{}, seenBy(t, c, 2, 1) },
	} {
		_, err := get()
		wantError(t, err, docstore.ErrNotFound)
	}
	must(t, c.UpdateMany(t.Context(), []int64{1, 2}, func(g *grave) bool { g.Title = "changed"; return true }))
	for _, read := range []func() ([]grave, error){
		func() ([]grave, error) { return c.GetMany(t.Context(), []int64{1, 2, 3}) },
		func() ([]grave, error) { return c.GetMany(t.Context(), []int64{1, 2, 3}, docstore.Durable) },
		func() ([]grave, error) { return c.GetMany(t.Context(), []int64{1, 2, 3}, docstore.Listed) },
	} {
		found, err := read()
		must(t, err)
		ids := graveIDs(found)
		slices.Sort(ids)
		wantEqual(t, "read by ids", ids, []int64{1, 3})
	}
	for _, where := range []docstore.Where{
		docstore.All(docstore.IDIndex), byRequest().All(), byEmail().All(), byOwner().All(), byOwner().Is(7), byStars().All(),
		byRequest().In(docstore.Between("a", "c")), docstore.All(docstore.IDIndex).FromID(1),
	} {
		wantEqual(t, "listed by "+where.Index(), graveIDs(walk(t, c, docstore.Query{Where: where, Limit: 1})), []int64{1, 3})
		wantEqual(t, "listed back by "+where.Index(), graveIDs(walk(t, c, docstore.Query{Where: where, Limit: 1, Descending: true})), []int64{3, 1})
		wantEqual(t, "counted by "+where.Index(), countOf(t, c, where), int64(2))
	}
	must(t, c.Delete(t.Context(), 3))
	highest, err := c.Highest(t.Context(), 1)
	must(t, err)
	wantEqual(t, "the highest id, which is that of a tombstone", highest, int64(3))
}

func goneKeepsKeys(t *testing.T, engine docstore.Engine) {
	c := someGraves(t, engine, 2)
	must(t, c.Delete(t.Context(), 1, docstore.Deletion{Set: []docstore.Condition{docstore.Is("email", "#1")}}))
	must(t, c.Delete(t.Context(), 2))
	wantDuplicate(t, c.Insert(t.Context(), grave{ID: 1, RequestKey: "x", Email: "x"}), docstore.IDIndex)
	wantDuplicate(t, c.Insert(t.Context(), grave{ID: 3, RequestKey: "a", Email: "x"}), docstore.RequestIndex)
	wantDuplicate(t, c.Insert(t.Context(), grave{ID: 3, RequestKey: "x", Email: "#1"}), "email")
	wantDuplicate(t, c.Insert(t.Context(), grave{ID: 3, RequestKey: "x", Email: "b@"}), "email")
	must(t, c.Insert(t.Context(), grave{ID: 3, RequestKey: "x", Email: "a@"}))
	wantDuplicate(t, c.Delete(t.Context(), 3, docstore.Deletion{Set: []docstore.Condition{docstore.Is("email", "b@")}}), "email")
	wantPlain(t, c.Delete(t.Context(), 3, docstore.Deletion{Set: []docstore.Condition{docstore.Is("title", "x")}}))
	stays := documentOf(t, c, 3)
	wantEqual(t, "email", stays.Email, "a@")
}

// only is a deletion under conditions.
func only(conditions ...docstore.Condition) docstore.Deletion {
	return docstore.Deletion{If: conditions}
}

func deletesOnCondition(t *testing.T, engine docstore.Engine) {
	c := someGraves(t, engine, 1)
	wantError(t, c.Delete(t.Context(), 1, only(docstore.Is[int64]("owner", 8))), docstore.ErrConflict)
	wantError(t, c.Delete(t.Context(), 1, only(docstore.Is[int64]("owner", 7), docstore.Is("title", "x"))), docstore.ErrConflict)
	wantError(t, c.Delete(t.Context(), 2, only(docstore.Is[int64]("owner", 7))), docstore.ErrNotFound)
	_ = documentOf(t, c, 1)
	must(t, c.Delete(t.Context(), 1, only(docstore.Is[int64]("owner", 7), docstore.Is("title", "title a"))))
	wantError(t, c.Delete(t.Context(), 1, only(docstore.Is[int64]("owner", 7))), docstore.ErrNotFound)
	plain := placesWith(t, engine, somePlace(1))
	wantError(t, plain.Delete(t.Context(), 1, only(docstore.Is[int64]("owner", 99))), docstore.ErrConflict)
	must(t, plain.Delete(t.Context(), 1, only(docstore.Is("owner", somePlace(1).Owner))))
	must(t, plain.Insert(t.Context(), somePlace(1)))
}

// withTombstones returns all documents of the collection as they are stored.
func withTombstones(t *testing.T, engine docstore.Engine) []bson.Raw {
	t.Helper()
	all, more, err := openTable(t, engine, graveSpec()).Scan(t.Context(), docstore.Scan{
		Where: where(docstore.IDIndex), Limit: 100, WithTombstones: true,
	})
	must(t, err)
	wantEqual(t, "more", more, false)
	return all
}

func tombstonesAreBare(t *testing.T, engine docstore.Engine) {
	c := someGraves(t, engine, 2)
	updated(t, c, 1, func(g *grave) { g.Title = "renamed" })
	must(t, seenBy(t, c, 1, 1))
	must(t, c.Delete(t.Context(), 1))
	all := withTombstones(t, engine)
	wantEqual(t, "documents", len(all), 2)
	elements, err := all[0].Elements()
	must(t, err)
	got := map[string]any{}
	for _, element := range elements {
		var value any
		must(t, element.Value().Unmarshal(&value))
		got[element.Key()] = value
	}
	wantEqual(t, "the tombstone", got, map[string]any{
		"_id": int64(1), docstore.RevisionField: int64(3), docstore.GoneField: docstore.Going, "request_key": "a", "email": "a@",
	})
	wantEqual(t, "the other one", docstore.IsTombstone(all[1]), false)
	gone, err := c.Deleted(t.Context(), []int64{1, 2, 3})
	must(t, err)
	wantEqual(t, "gone", gone, map[int64]int64{1: docstore.Going})
}

// oldGrave is a grave as an older version knows it.
type oldGrave struct {
	ID         int64  `bson:"_id"`
	RequestKey string `bson:"request_key"`
	Email      string `bson:"email"`
	Owner      int64  `bson:"owner"`
	Title      string `bson:"title"`
	Seen       int64  `bson:"seen"`
}

func deletesUnknown(t *testing.T, engine docstore.Engine) {
	someGraves(t, engine, 3)
	old := openAs[oldGrave](t, engine, graveSpec())
	must(t, old.Delete(t.Context(), 2))
	must(t, old.Sweep(t.Context(), time.Hour, nil))
	_, err := withTombstones(t, engine)[1].LookupErr("stars")
	wantError(t, err, bsoncore.ErrElementNotFound)
}

func insertsTombstones(t *testing.T, engine docstore.Engine) {
	c := someGraves(t, engine, 2)
	must(t, c.Delete(t.Context(), 1))
	dumped := withTombstones(t, engine)
	whole, placed := graveSpec(), graveSpec()
	whole.Name, placed.Name = "loaded", "placed"
	// The tombstone lacks the field that names its place.
	placed.Sharding, placed.PlaceFields = docstore.ByPlace, []string{"owner"}
	loadsTombstones(t, openTable(t, engine, whole), dumped)
	loadsTombstones(t, openTable(t, engine, placed), dumped[:1])
}

func loadsTombstones(t *testing.T, loaded docstore.Table, dumped []bson.Raw) {
	t.Helper()
	errs, err := loaded.Insert(t.Context(), dumped)
	must(t, err)
	wantEqual(t, "refusals", errs, make([]error, len(dumped)))
	again, _, err := loaded.Scan(t.Context(), docstore.Scan{Where: where(docstore.IDIndex).Everywhere(), Limit: 9, WithTombstones: true})
	must(t, err)
	wantEqual(t, "loaded", alike(t, again), alike(t, dumped))
	_, err = docstore.GetFrom(t.Context(), loaded, number(1), docstore.Present)
	wantError(t, err, docstore.ErrNotFound)
	due, _, err := loaded.Tombstones(t.Context(), 0, 9)
	must(t, err)
	wantEqual(t, "due", len(due), 1)
}

func createGone(t *testing.T, engine docstore.Engine) {
	c := openAs[grave](t, engine, graveSpec())
	create := func(id int64) (grave, docstore.Outcome, error) {
		return docstore.Create(t.Context(), c, drawing(id), docstore.Request{By: byRequest().All(), ID: "r", Digest: 7},
			func(id int64, requestKey string) grave {
				return grave{ID: id, RequestKey: requestKey, Email: requestKey}
			})
	}
	_, _, err := create(1)
	must(t, err)
	must(t, c.Delete(t.Context(), 1))
	for _, id := range []int64{2, 3} {
		_, _, err := create(id)
		wantError(t, err, docstore.ErrGone)
	}
	_, _, err = docstore.Answered(t.Context(), c, docstore.Request{By: byRequest().All(), ID: "r"})
	wantError(t, err, docstore.ErrGone)
}

func sweepsAgain(t *testing.T, engine docstore.Engine) {
	c := someGraves(t, engine, 3)
	must(t, c.Delete(t.Context(), 1))
	must(t, c.Delete(t.Context(), 3))
	for range 2 {
		var purged []int64
		must(t, c.Sweep(t.Context(), time.Hour, func(_ context.Context, id int64) error { purged = append(purged, id); return nil }))
		wantEqual(t, "purged", purged, []int64{1, 3})
	}
	state, err := c.Deleted(t.Context(), []int64{1})
	must(t, err)
	wantEqual(t, "state", state[1], docstore.Going)
	// One that fails does not stop the others.
	broken, purged := errors.New("the purge failed"), int64(0)
	err = c.Sweep(t.Context(), time.Hour, func(_ context.Context, id int64) error {
		if id == 1 {
			return broken
		}
		purged = id
		return nil
	})
	wantError(t, err, broken)
	wantEqual(t, "purged", purged, int64(3))
}

func sweepsForGood(t *testing.T, engine docstore.Engine) {
	c := someGraves(t, engine, 2)
	drawn, err := id.NewSource(time.Now).Next(0, 0, 0)
	must(t, err)
	must(t, c.Insert(t.Context(), grave{ID: drawn, RequestKey: "new", Email: "new"}))
	must(t, c.Delete(t.Context(), 1))
	must(t, c.Delete(t.Context(), drawn))
	// Without anything to purge, a tombstone is clear at once. keep is over for both. The moments of a
	// store may be ahead of the clock by what it counts in a second.
	must(t, c.Sweep(t.Context(), -10*time.Second, nil))
	must(t, c.Insert(t.Context(), grave{ID: 1, RequestKey: "a", Email: "a@"}))
	wantDuplicate(t, c.Insert(t.Context(), grave{ID: drawn, RequestKey: "x", Email: "x"}), docstore.IDIndex)
	state, err := c.Deleted(t.Context(), []int64{drawn})
	must(t, err)
	wantEqual(t, "state", state[drawn], docstore.Gone)
	due, _, err := openTable(t, engine, graveSpec()).Tombstones(t.Context(), 0, 9)
	must(t, err)
	wantEqual(t, "due", len(due), 0)
}

func sweepsTheSame(t *testing.T, engine docstore.Engine) {
	c, table := someGraves(t, engine, 1), openTable(t, engine, graveSpec())
	must(t, c.Delete(t.Context(), 1))
	due, now, err := table.Tombstones(t.Context(), 0, 9)
	must(t, err)
	wantEqual(t, "due", len(due), 1)
	stale := due[0]
	must(t, table.Forget(t.Context(), stale))
	must(t, c.Insert(t.Context(), grave{ID: 1}))
	wantError(t, table.Forget(t.Context(), stale), docstore.ErrNotFound)
	must(t, c.Delete(t.Context(), 1))
	wantError(t, table.Forget(t.Context(), stale), docstore.ErrNotFound)
	wantError(t, table.Postpone(t.Context(), stale, now), docstore.ErrNotFound)
	state, err := c.Deleted(t.Context(), []int64{1})
	must(t, err)
	wantEqual(t, "state", state[1], docstore.Going)
}

func tombstonesInOrder(t *testing.T, engine docstore.Engine) {
	c, table := someGraves(t, engine, 5), openTable(t, engine, graveSpec())
	for _, id := range []int64{3, 1, 5, 2} {
		must(t, c.Delete(t.Context(), id))
	}
	var ids []int64
	for after := docstore.Moment(0); ; {
		due, now, err := table.Tombstones(t.Context(), after, 2)
		must(t, err)
		if len(due) == 0 {
			break
		}
		for _, each := range due {
			if each.Due > now || each.At > now {
				t.Fatalf("at %d, %+v is due", now, each)
			}
			ids = append(ids, each.ID.Int64())
		}
		after = due[len(due)-1].Due
	}
	wantEqual(t, "due", ids, []int64{3, 1, 5, 2})
	due, now, err := table.Tombstones(t.Context(), 0, 1)
	must(t, err)
	must(t, table.Postpone(t.Context(), due[0], now+1<<48))
	due, _, err = table.Tombstones(t.Context(), 0, 1)
	must(t, err)
	wantEqual(t, "the next one", due[0].ID, number(1))
}

func refusesTombstones(t *testing.T, engine docstore.Engine) {
	_, err := someGraves(t, engine, 0).DeleteAll(t.Context(), byOwner().All())
	wantPlain(t, err)
	table := openTable(t, engine, placeSpec())
	_, _, err = table.Tombstones(t.Context(), 0, 1)
	wantPlain(t, err)
	wantPlain(t, table.Postpone(t.Context(), docstore.Tombstone{ID: number(1)}, 1))
	wantPlain(t, table.Forget(t.Context(), docstore.Tombstone{ID: number(1)}))
}
