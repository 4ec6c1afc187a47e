package conformance

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/id"
	"github.com/waybook/waybook/internal/storetest"
)

// leaf is a document in the place of its tree.
type leaf struct {
	ID         int64  `bson:"_id"`
	Tree       int64  `bson:"tree"`
	RequestKey string `bson:"request_key"`
	Color      int64  `bson:"color"`
	Seen       int64  `bson:"seen"`
}

func leafSpec() docstore.Spec {
	return docstore.Spec{
		Name: "leaves", ID: docstore.Int64, Sharding: docstore.ByPlace, Scheme: id.Scheme{}, PlaceFields: []string{"tree"},
		Indexes: []docstore.Index{byTree().Declare(), byColor().Declare(), byTreeRequest().Declare(), byColorOnce().Declare()},
	}
}

func byTree() docstore.Index1[int64] { return docstore.Index1[int64]{Name: "tree", A: "tree"} }

func byColor() docstore.Index1[int64] { return docstore.Index1[int64]{Name: "color", A: "color"} }

func byTreeRequest() docstore.Index2[int64, string] {
	return docstore.Index2[int64, string]{Name: docstore.RequestIndex, A: "tree", B: "request_key", Unique: true}
}

func byColorOnce() docstore.Index2[int64, int64] {
	return docstore.Index2[int64, int64]{Name: "color_once", A: "color", B: "tree", Unique: true, Walked: true}
}

type leaves = docstore.Collection[int64, leaf]

func openLeaves(t *testing.T, engine docstore.Engine) *leaves {
	t.Helper()
	return openAs[leaf](t, engine, leafSpec())
}

// placedID returns the nth id in a place.
func placedID(n int64, place id.Place) int64 { return n<<id.PlaceBits | int64(place) }

func newLeaf(n int64, place id.Place) leaf {
	return leaf{ID: placedID(n, place), Tree: placedID(1, place), RequestKey: strconv.FormatInt(n, 10), Color: n}
}

// insertLeaves stores three leaves in each of four places, and returns them by id.
func insertLeaves(t *testing.T, c *leaves) (all []leaf) {
	t.Helper()
	for n := range int64(3) {
		for _, place := range []id.Place{0, 1, 40_000, id.Places - 1} {
			all = append(all, newLeaf(2+n, place))
		}
	}
	must(t, c.Insert(t.Context(), all...))
	return all
}

func idsOf(leaves []leaf) []int64 {
	ids := make([]int64, len(leaves))
	for i, each := range leaves {
		ids[i] = each.ID
	}
	return ids
}

func pageOf(t *testing.T, c *leaves, where docstore.Where) []int64 {
	t.Helper()
	page := firstPage(t, c, docstore.Query{Where: where, Limit: 100})
	return idsOf(page.Documents)
}

func placeNamed(t *testing.T, engine docstore.Engine) {
	c := openLeaves(t, engine)
	sessions := openAs[leaf](t, engine, docstore.Spec{Name: "by_id", ID: docstore.Int64, Sharding: docstore.ByID, Indexes: []docstore.Index{byColor().Declare()}})
	for name, call := range map[string]func(docstore.Where) error{
		"page": func(w docstore.Where) error {
			_, err := c.Page(t.Context(), docstore.Query{Where: w, Limit: 1})
			return err
		},
		"find":       func(w docstore.Where) error { _, err := c.Find(t.Context(), w); return err },
		"count":      func(w docstore.Where) error { _, err := c.Count(t.Context(), w); return err },
		"delete all": func(w docstore.Where) error { _, err := c.DeleteAll(t.Context(), w); return err },
	} {
		for _, refused := range []docstore.Where{
			byColor().Is(1), byColor().All(), byTree().All(), byTreeRequest().All(), docstore.All(docstore.IDIndex),
			byTree().In(docstore.Span{From: docstore.ValueOf(int64(1))}), byTreeRequest().All().Everywhere(),
		} {
			t.Log(name, refused)
			wantPlain(t, call(refused))
		}
		for _, taken := range []docstore.Where{
			byTree().Is(1), byTreeRequest().First(1), byColor().Is(1).Everywhere(), byTree().All().Everywhere(), byColor().Is(1).At(7),
			byTreeRequest().All().At(7), byColorOnce().All().Everywhere(), docstore.All(docstore.IDIndex).Everywhere(),
		} {
			if err := call(taken); err != nil && !errors.Is(err, docstore.ErrNotFound) {
				t.Errorf("%s %v: %v", name, taken, err)
			}
		}
	}
	_, err := sessions.Count(t.Context(), byColor().Is(1))
	wantPlain(t, err)
	_ = countOf(t, sessions, byColor().Is(1).Everywhere())
}

func misplacedRefused(t *testing.T, engine docstore.Engine) {
	c := openLeaves(t, engine)
	misplaced := newLeaf(2, 7)
	misplaced.Tree++
	err := c.Insert(t.Context(), misplaced)
	wantPlain(t, err)
	if !strings.Contains(err.Error(), "place 8") {
		t.Errorf("the error names no place: %v", err)
	}
	must(t, c.Insert(t.Context(), newLeaf(2, 7)))
	_, err = c.Update(t.Context(), placedID(2, 7), func(l *leaf) error { l.Tree++; return nil })
	wantPlain(t, err)
	wantEqual(t, "leaf", documentOf(t, c, placedID(2, 7)), newLeaf(2, 7))
}

// twig is a document whose id is a text.
type twig struct {
	ID    string `bson:"_id"`
	Color int64  `bson:"color"`
}

func textNamesPlace(t *testing.T, engine docstore.Engine) {
	c, err := docstore.Open[string, twig](t.Context(), engine, docstore.Spec{Name: "twigs", ID: docstore.String, Sharding: docstore.ByPlace, Scheme: id.Scheme{}})
	must(t, err)
	for _, misplaced := range []string{"", "7", "x/7", "/7", "7x/7"} {
		wantPlain(t, c.Insert(t.Context(), twig{ID: misplaced}))
	}
	textOf := func(place id.Place, name string) string { return fmt.Sprintf("%d/%s", placedID(1, place), name) }
	all := []string{textOf(7, "a"), textOf(7, "b"), textOf(7, "c"), textOf(8, "a")}
	for _, each := range all {
		must(t, c.Insert(t.Context(), twig{ID: each}))
	}
	must(t, c.UpdateMany(t.Context(), all, func(w *twig) bool { w.Color = 1; return true }))
	for _, each := range all {
		got, err := c.Get(t.Context(), each, docstore.Linearizable)
		must(t, err)
		wantEqual(t, "twig", got, twig{each, 1})
	}
	found, err := c.GetMany(t.Context(), append(all, textOf(9, "a")), docstore.Durable)
	must(t, err)
	wantEqual(t, "found", len(found), len(all))
	between := docstore.All(docstore.IDIndex).Within(docstore.Span{From: text(all[1]), To: text(textOf(7, "z"))})
	_, err = c.Page(t.Context(), docstore.Query{Where: between, Limit: 5})
	wantPlain(t, err)
	page := firstPage(t, c, docstore.Query{Where: between.At(7), Limit: 5})
	wantEqual(t, "page", page.Documents, []twig{{all[1], 1}, {all[2], 1}})
	wantEqual(t, "deleted", deleteWhere(t, c, between.At(7)), int64(2))
	_, err = c.Get(t.Context(), "nowhere")
	wantError(t, err, docstore.ErrNotFound)
}

func placedByID(t *testing.T, engine docstore.Engine) {
	c := openLeaves(t, engine)
	all := insertLeaves(t, c)
	for _, get := range []func() ([]leaf, error){
		func() ([]leaf, error) { return c.GetMany(t.Context(), append(idsOf(all), 5, placedID(9, 1))) },
		func() ([]leaf, error) {
			ids := docstore.ValuesOf(append(idsOf(all), 5, placedID(9, 1)))
			page, err := c.Page(t.Context(), docstore.Query{Where: docstore.WithIDs(ids...), Limit: len(ids), As: docstore.Listed})
			return page.Documents, err
		},
		func() ([]leaf, error) {
			return c.GetMany(t.Context(), append(idsOf(all), 5, placedID(9, 1)), docstore.Durable)
		},
	} {
		found, err := get()
		must(t, err)
		got := idsOf(found)
		slices.Sort(got)
		wantEqual(t, "ids", got, idsOf(all))
	}
	last := all[len(all)-1].ID
	updated(t, c, last, func(l *leaf) { l.Color = 100 })
	must(t, c.UpdateMany(t.Context(), idsOf(all), func(l *leaf) bool { l.RequestKey += " again"; return true }))
	must(t, seenBy(t, c, last, 3))
	for _, read := range []func() (leaf, error){
		func() (leaf, error) { return c.Get(t.Context(), last) },
		func() (leaf, error) { return c.Get(t.Context(), last, docstore.Linearizable) },
		func() (leaf, error) { return c.Get(t.Context(), last, docstore.Recent(time.Minute)) },
	} {
		got, err := read()
		must(t, err)
		wantEqual(t, "leaf", got, leaf{last, placedID(1, id.Places-1), "4 again", 100, 3})
	}
	must(t, c.Delete(t.Context(), last))
	wantError(t, c.Delete(t.Context(), last), docstore.ErrNotFound)
	wantError(t, seenBy(t, c, last, 3), docstore.ErrNotFound)
	_, err := c.Update(t.Context(), last, func(*leaf) error { return nil })
	wantError(t, err, docstore.ErrNotFound)
}

func placedSelections(t *testing.T, engine docstore.Engine) {
	c := openLeaves(t, engine)
	all := insertLeaves(t, c)
	here := []int64{placedID(2, 40_000), placedID(3, 40_000), placedID(4, 40_000)}
	wantEqual(t, "by tree", pageOf(t, c, byTree().Is(placedID(1, 40_000))), here)
	wantEqual(t, "by request", pageOf(t, c, byTreeRequest().First(placedID(1, 40_000))), here)
	wantEqual(t, "from an id", pageOf(t, c, byTree().Is(placedID(1, 40_000)).FromID(here[1])), here[1:])
	wantEqual(t, "everywhere", pageOf(t, c, byColor().Is(2).Everywhere()), idsOf(all[:4]))
	wantEqual(t, "by id", pageOf(t, c, docstore.All(docstore.IDIndex).Everywhere()), idsOf(all))
	var walked []int64
	for batch, err := range c.Batches(t.Context(), docstore.Query{Where: byTree().All().Everywhere(), Limit: 2}) {
		must(t, err)
		walked = append(walked, idsOf(batch)...)
	}
	byTreeThenID := slices.SortedFunc(slices.Values(all), func(a, b leaf) int {
		if a.Tree != b.Tree {
			return int(a.Tree - b.Tree)
		}
		return int(a.ID - b.ID)
	})
	wantEqual(t, "walked", walked, idsOf(byTreeThenID))
	wantEqual(t, "all", pageOf(t, c, byColorOnce().All().Everywhere()), idsOf(all))
	wantEqual(t, "one color", pageOf(t, c, byColorOnce().First(3).Everywhere()), idsOf(all[4:8]))
	wantEqual(t, "one leaf", pageOf(t, c, byColorOnce().Is(3, placedID(1, 1))), []int64{placedID(3, 1)})
	second := newLeaf(9, 1)
	second.RequestKey = "3"
	wantDuplicate(t, c.Insert(t.Context(), second), docstore.RequestIndex)
	second.RequestKey, second.Color = "9", 3
	wantDuplicate(t, c.Insert(t.Context(), second), "color_once")
	wantDuplicate(t, c.Insert(t.Context(), newLeaf(3, 1)), docstore.IDIndex)
	_, err := c.Update(t.Context(), placedID(2, 1), func(l *leaf) error { l.Color = 3; return nil })
	wantDuplicate(t, err, "color_once")
	wantEqual(t, "deleted", deleteWhere(t, c, byTree().Is(placedID(1, 40_000))), int64(3))
	wantEqual(t, "left", countOf(t, c, docstore.All(docstore.IDIndex).Everywhere()), int64(9))
}

func placedBytes(t *testing.T, engine docstore.Engine) {
	table := openTable(t, engine, leafSpec())
	raw, err := bson.Marshal(bson.D{
		{Key: "_id", Value: placedID(5, 7)}, {Key: "tree", Value: placedID(1, 7)}, {Key: "request_key", Value: "r"},
		{Key: "color", Value: int64(1)}, {Key: "rest", Value: bson.D{{Key: "_place", Value: "within"}}}, {Key: docstore.RevisionField, Value: int64(1)},
	})
	must(t, err)
	refusals, err := table.Insert(t.Context(), []bson.Raw{raw})
	must(t, errors.Join(append(refusals, err)...))
	wantStored(t, table, placedID(5, 7), raw)
	many, _ := scanRaw(t, table, docstore.Scan{Where: docstore.WithIDs(number(placedID(5, 7))), Limit: 1})
	scanned, _ := scanRaw(t, table, docstore.Scan{Where: byTree().Is(placedID(1, 7)), Limit: 1})
	for _, each := range append(many, scanned...) {
		wantEqual(t, "document", each.String(), bson.Raw(raw).String())
	}
}

func highestOfPlace(t *testing.T, engine docstore.Engine) {
	c := openLeaves(t, engine)
	insertLeaves(t, c)
	for _, want := range []struct{ from, highest int64 }{
		{placedID(1, 1), placedID(4, 1)},
		{placedID(4, 1), placedID(4, 1)},
		{placedID(5, 1), 0},
		{placedID(1, 2), 0},
		{placedID(3, 0), placedID(4, 0)},
	} {
		highest, err := c.Highest(t.Context(), want.from)
		must(t, err)
		wantEqual(t, "highest", highest, want.highest)
	}
	whole := openPlaces(t, engine)
	for _, each := range []int64{1, 2, 70_000} {
		must(t, whole.Insert(t.Context(), somePlace(each)))
	}
	highest, err := whole.Highest(t.Context(), 2)
	must(t, err)
	wantEqual(t, "highest of a collection on one shard", highest, int64(70_000))
}

func createLeaf(t *testing.T, c *leaves, source *id.Source, place id.Place, key string) leaf {
	t.Helper()
	tree := placedID(1, place)
	made, outcome, err := docstore.Create(t.Context(), c, source.In(t.Context(), place, c.Highest), docstore.Request{By: byTreeRequest().First(tree), ID: key},
		func(id int64, requestKey string) leaf {
			return leaf{ID: id, Tree: tree, RequestKey: requestKey, Color: id}
		})
	if err != nil {
		t.Error(err)
		return leaf{}
	}
	wantEqual(t, "outcome", outcome, docstore.Created)
	return made
}

// createBehind stores what a source has drawn while its clock stood still, restarts, and creates.
func createBehind(t *testing.T, engine docstore.Engine, many int) {
	const place = 7
	now := func() time.Time { return time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC) }
	tries := 0
	c := openAs[leaf](t, &storetest.Hooked{Engine: engine, Write: countInserts(&tries)}, leafSpec())
	before := id.NewSource(now)
	var stored []leaf
	for range many {
		drawn, err := before.Next(place, 0, 0)
		must(t, err)
		stored = append(stored, leaf{ID: drawn, Tree: placedID(1, place), RequestKey: strconv.FormatInt(drawn, 10), Color: drawn})
	}
	for chunk := range slices.Chunk(stored, 500) {
		must(t, c.Insert(t.Context(), chunk...))
	}
	restarted, last := id.NewSource(now), stored[len(stored)-1].ID
	for n := range 10 {
		tries = 0
		made := createLeaf(t, c, restarted, place, "new "+strconv.Itoa(n))
		if made.ID <= last {
			t.Errorf("%d was created after %d", made.ID, last)
		}
		if last = made.ID; n == 0 && tries != 2 || n > 0 && tries != 1 {
			t.Errorf("create %d took %d inserts", n, tries)
		}
	}
}

func createTogether(t *testing.T, engine docstore.Engine) {
	const writers, each, place = 64, 4, 7
	c := openLeaves(t, engine)
	sources := []*id.Source{id.NewSource(time.Now), id.NewSource(time.Now)}
	var made [writers][each]leaf
	at(writers, func(i int) {
		for n := range each {
			made[i][n] = createLeaf(t, c, sources[i%2], place, strconv.Itoa(i)+" "+strconv.Itoa(n))
		}
	})
	seen := map[int64]bool{}
	for i := range made {
		for n, each := range made[i] {
			if seen[each.ID] || n > 0 && each.ID <= made[i][n-1].ID {
				t.Errorf("writer %d got %d after %d", i, each.ID, made[i][max(n-1, 0)].ID)
			}
			seen[each.ID] = true
		}
	}
}
