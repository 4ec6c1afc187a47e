package storetest

import (
	"errors"
	"slices"
	"testing"

	"github.com/waybook/waybook/internal/docstore"
)

type reopeningCase struct {
	name string
	run  func(t *testing.T, open func(t *testing.T) docstore.Engine)
}

func reopeningCases(prepare Prepare) []reopeningCase {
	return []reopeningCase{
		{"written documents exist after Close and Open", staysThere},
		{"a new index is built from the stored documents", buildsNew},
		{"an index whose declaration changed is rebuilt", buildsChanged},
		{"an index that becomes sparse, or is no longer, is rebuilt", changesSparse},
		{"an index that is declared again is complete", comesBackWhole},
		{"an index that becomes unique refuses duplicates, and accepts them when it no longer is", changesUnique(prepare)},
		{"a unique index that documents violate fails Open and damages nothing", doesNotFit},
		{"an index on a field that documents lack fails Open and damages nothing", lacksField},
		{"another kind of id fails Open", otherID},
		{"Inspect reports missing and undeclared indexes, and changes nothing", inspectsOtherwise},
		{"another kind of id fails Inspect", inspectsOtherID},
	}
}

// reopened closes a store and opens it again.
func reopened(t *testing.T, engine docstore.Engine, open func(t *testing.T) docstore.Engine) docstore.Engine {
	t.Helper()
	must(t, engine.Close())
	return open(t)
}

func staysThere(t *testing.T, open func(t *testing.T) docstore.Engine) {
	engine := open(t)
	c := placesWith(t, engine, somePlaces(1, 20)...)
	must(t, c.Delete(t.Context(), int64(7)))
	changed := updated(t, c, 8, func(p *place) { p.Code, p.Owner = "changed", 9 })
	want := append(append(somePlaces(1, 6), changed), somePlaces(9, 20)...)
	engine = reopened(t, engine, open)
	c = openPlaces(t, engine)
	wantContents(t, c, want)
	must(t, c.Insert(t.Context(), somePlace(7)))
	wantContents(t, c, append(want, somePlace(7)))
	must(t, engine.Close())
}

// with returns the spec of places with only the named indexes.
func with(names ...string) docstore.Spec {
	spec := placeSpec()
	spec.Indexes = slices.DeleteFunc(spec.Indexes, func(ix docstore.Index) bool { return !slices.Contains(names, ix.Name) })
	return spec
}

func buildsNew(t *testing.T, open func(t *testing.T) docstore.Engine) {
	engine := open(t)
	insertAll(t, openAs[place](t, engine, with()), somePlaces(-20, 20))
	engine = reopened(t, engine, open)
	c := openPlaces(t, engine)
	wantContents(t, c, somePlaces(-20, 20))
	duplicate := somePlace(21)
	duplicate.Code = "code 3"
	wantDuplicate(t, c.Insert(t.Context(), duplicate), "code")
	must(t, engine.Close())
}

func buildsChanged(t *testing.T, open func(t *testing.T) docstore.Engine) {
	engine := open(t)
	spec := placeSpec()
	spec.Indexes[1].Fields, spec.Indexes[2].Fields = spec.Indexes[2].Fields, spec.Indexes[1].Fields
	insertAll(t, openAs[place](t, engine, spec), somePlaces(1, 20))
	engine = reopened(t, engine, open)
	wantContents(t, openPlaces(t, engine), somePlaces(1, 20))
	must(t, engine.Close())
}

func changesSparse(t *testing.T, open func(t *testing.T) docstore.Engine) {
	dense := with("by_owner", "flag")
	dense.Indexes[1].Sparse = false
	engine := open(t)
	insertAll(t, openPlaces(t, engine), somePlaces(1, 6))
	engine = reopened(t, engine, open)
	_, err := engine.Open(t.Context(), dense)
	wantPlain(t, err) // place 5 lacks the field
	engine = reopened(t, engine, open)
	c := openPlaces(t, engine)
	wantContents(t, c, somePlaces(1, 6))
	must(t, c.Delete(t.Context(), 5))
	engine = reopened(t, engine, open)
	wantEqual(t, "flagged", len(walk(t, openAs[place](t, engine, dense), docstore.Query{Where: byFlag().All(), Limit: 7})), 5)
	engine = reopened(t, engine, open)
	c = openPlaces(t, engine)
	must(t, c.Insert(t.Context(), somePlace(5)))
	wantContents(t, c, somePlaces(1, 6))
	must(t, engine.Close())
}

func comesBackWhole(t *testing.T, open func(t *testing.T) docstore.Engine) {
	engine := open(t)
	insertAll(t, openPlaces(t, engine), somePlaces(1, 10))
	engine = reopened(t, engine, open)
	c := openAs[place](t, engine, with("by_owner"))
	_, err := c.Find(t.Context(), byCode().Is("code 1"))
	wantPlain(t, err)
	insertAll(t, c, somePlaces(11, 14))
	must(t, c.Delete(t.Context(), int64(2)))
	changed := updated(t, c, 1, func(p *place) { p.Code, p.Title = "changed", "changed" })
	engine = reopened(t, engine, open)
	wantContents(t, openPlaces(t, engine), append(somePlaces(3, 14), changed))
	must(t, engine.Close())
}

func changesUnique(prepare Prepare) func(t *testing.T, open func(t *testing.T) docstore.Engine) {
	return func(t *testing.T, open func(t *testing.T) docstore.Engine) {
		engine := open(t)
		spec := placeSpec()
		for i := range spec.Indexes {
			spec.Indexes[i].Unique = false
		}
		insertAll(t, openAs[place](t, engine, spec), somePlaces(1, 5))
		engine = reopened(t, engine, open)
		must(t, prepare(t.Context(), engine, placeSpec()))
		c := openPlaces(t, engine)
		twin := somePlace(6)
		twin.Code = "code 1"
		wantDuplicate(t, c.Insert(t.Context(), twin), "code")
		wantContents(t, c, somePlaces(1, 5))
		engine = reopened(t, engine, open)
		must(t, prepare(t.Context(), engine, spec))
		c = openAs[place](t, engine, spec)
		must(t, c.Insert(t.Context(), twin))
		wantContents(t, c, append(somePlaces(1, 5), twin))
		must(t, engine.Close())
	}
}

func doesNotFit(t *testing.T, open func(t *testing.T) docstore.Engine) {
	engine := open(t)
	twin := somePlace(6)
	twin.Code = "code 1"
	places := append(somePlaces(1, 5), twin)
	insertAll(t, openAs[place](t, engine, with("by_owner", "by_title")), places)
	engine = reopened(t, engine, open)
	_, err := engine.Open(t.Context(), with("by_owner", "by_title", "code"))
	var duplicate *docstore.DuplicateError
	if err == nil || errors.As(err, &duplicate) && duplicate.Index != "code" {
		t.Fatalf("got error %v", err)
	}
	engine = reopened(t, engine, open)
	c := openAs[place](t, engine, with("by_owner", "by_title"))
	wantEqual(t, "places", walk(t, c, docstore.Query{Where: docstore.All(docstore.IDIndex), Limit: 4}), places)
	updated(t, c, 6, func(p *place) { p.Code = "code 6" })
	engine = reopened(t, engine, open)
	wantContents(t, openPlaces(t, engine), somePlaces(1, 6))
	must(t, engine.Close())
}

func lacksField(t *testing.T, open func(t *testing.T) docstore.Engine) {
	engine := open(t)
	insertAll(t, openAs[place](t, engine, with("by_owner")), somePlaces(1, 5))
	must(t, engine.Close())

	integer := func(name string) []docstore.Field { return []docstore.Field{{Name: name, Kind: docstore.Int64}} }
	for _, index := range []docstore.Index{
		{Name: "extra", Fields: integer("nowhere")}, {Name: "extra", Fields: integer("title")}, {Name: "extra", Fields: integer("title"), Sparse: true},
	} {
		engine = open(t)
		spec := with("by_owner")
		spec.Indexes = append(spec.Indexes, index)
		_, err := engine.Open(t.Context(), spec)
		wantPlain(t, err)
		must(t, engine.Close())
	}

	engine = open(t)
	wantContents(t, openPlaces(t, engine), somePlaces(1, 5))
	must(t, engine.Close())
}

func otherID(t *testing.T, open func(t *testing.T) docstore.Engine) {
	engine := open(t)
	insertAll(t, openPlaces(t, engine), somePlaces(1, 2))
	engine = reopened(t, engine, open)
	spec := placeSpec()
	spec.ID = docstore.String
	_, err := engine.Open(t.Context(), spec)
	wantPlain(t, err)
	must(t, engine.Close())
}

// RunDefaults runs the cases of a new indexed field, with a default for the documents that an
// older version of the program wrote. create makes an empty store and returns a function
// that opens it; the case closes the engine.
func RunDefaults(t *testing.T, create func(t *testing.T) (open func(t *testing.T) docstore.Engine)) {
	for _, c := range []struct {
		name string
		run  func(t *testing.T, s *defaultStore)
	}{
		{"a document without the field is found in the new index under its default, in order", findsDefaults},
		{"a document without the field is read with its default", readsDefaults},
		{"an update moves a document without the field away from its default, and back", movesFromDefault},
		{"an old version's update leaves the new field alone", oldVersionUpdates},
		{"a page ends and the next one starts among documents without the field", pagesDefaults},
		{"a document without the field is deleted with those of its default", deletesDefaults},
	} {
		t.Run(c.name, func(t *testing.T) {
			open := create(t)
			engine := open(t)
			old := openAs[oldRated](t, engine, docstore.Spec{Name: "rated", ID: docstore.Int64, Indexes: []docstore.Index{byTitle().Declare()}})
			for id := range int64(5) {
				must(t, old.Insert(t.Context(), oldRated{ID: id, Title: "old"}))
			}
			engine = reopened(t, engine, open)
			s := &defaultStore{engine: engine, rated: openAs[rated](t, engine, ratedSpec()), old: openAs[oldRated](t, engine, ratedSpec())}
			insertAll(t, s.rated, []rated{{5, "low", 1, "-"}, {6, "equal", 3, "unset"}, {7, "high", 9, "z"}})
			c.run(t, s)
			must(t, engine.Close())
		})
	}
}

// defaultStore holds the old documents 0 to 4 and the new ones 5 to 7.
type defaultStore struct {
	engine docstore.Engine
	rated  *docstore.Collection[int64, rated]
	// old writes as the program before the new field.
	old *docstore.Collection[int64, oldRated]
}

type oldRated struct {
	ID    int64  `bson:"_id"`
	Title string `bson:"title"`
}

type rated struct {
	ID     int64  `bson:"_id"`
	Title  string `bson:"title"`
	Rating int64  `bson:"rating"`
	Mood   string `bson:"mood"`
}

func ratedSpec() docstore.Spec {
	return docstore.Spec{
		Name: "rated", ID: docstore.Int64,
		Indexes:  []docstore.Index{byTitle().Declare(), byRating().Declare(), byMoodRating().Declare()},
		Defaults: map[string]docstore.Value{"rating": number(3), "mood": text("unset")},
	}
}

func byRating() docstore.Index1[int64] { return docstore.Index1[int64]{Name: "by_rating", A: "rating"} }

func byMoodRating() docstore.Index2[string, int64] {
	return docstore.Index2[string, int64]{Name: "by_mood_rating", A: "mood", B: "rating"}
}

func (s *defaultStore) wantIDs(t *testing.T, selection docstore.Where, want ...int64) {
	t.Helper()
	for _, limit := range []int{1, 3, 20} {
		var got []int64
		for _, each := range walk(t, s.rated, docstore.Query{Where: selection, Limit: limit}) {
			got = append(got, each.ID)
		}
		wantEqual(t, "ids by "+selection.Index(), got, want)
	}
	wantEqual(t, "count by "+selection.Index(), countOf(t, s.rated, selection), int64(len(want)))
}

func findsDefaults(t *testing.T, s *defaultStore) {
	must(t, s.old.Insert(t.Context(), oldRated{ID: 8, Title: "written by an old version now"}))
	_, err := s.engine.Backfill(t.Context())
	must(t, err)
	s.wantIDs(t, byRating().All(), 5, 0, 1, 2, 3, 4, 6, 8, 7)
	s.wantIDs(t, byRating().Is(3), 0, 1, 2, 3, 4, 6, 8)
	s.wantIDs(t, byRating().In(docstore.UpTo[int64](2)), 5)
	s.wantIDs(t, byRating().In(docstore.Between[int64](2, 3)), 0, 1, 2, 3, 4, 6, 8)
	s.wantIDs(t, byMoodRating().Is("unset", 3), 0, 1, 2, 3, 4, 6, 8)
	s.wantIDs(t, byMoodRating().All(), 5, 0, 1, 2, 3, 4, 6, 8, 7)
	s.wantIDs(t, byTitle().Is("old"), 0, 1, 2, 3, 4)
}

func readsDefaults(t *testing.T, s *defaultStore) {
	want := rated{2, "old", 3, "unset"}
	wantEqual(t, "Get", documentOf(t, s.rated, 2), want)
	got, err := s.rated.Find(t.Context(), byRating().Is(3).FromID(2))
	must(t, err)
	wantEqual(t, "Find", got, want)
	many, err := s.rated.GetMany(t.Context(), []int64{2})
	must(t, err)
	wantEqual(t, "GetMany", many, []rated{want})
}

func movesFromDefault(t *testing.T, s *defaultStore) {
	rate := func(id, rating int64) {
		t.Helper()
		got := updated(t, s.rated, id, func(r *rated) { r.Rating = rating })
		wantEqual(t, "rating", got, rated{id, "old", rating, "unset"})
	}
	rate(1, 7)
	rate(3, 0)
	s.wantIDs(t, byRating().All(), 3, 5, 0, 2, 4, 6, 1, 7)
	s.wantIDs(t, byMoodRating().First("unset"), 3, 0, 2, 4, 6, 1)
	rate(1, 3)
	s.wantIDs(t, byRating().Is(3), 0, 1, 2, 4, 6)
	must(t, s.rated.Delete(t.Context(), 2))
	s.wantIDs(t, byRating().Is(3), 0, 1, 4, 6)
}

func oldVersionUpdates(t *testing.T, s *defaultStore) {
	for _, id := range []int64{0, 7} {
		updated(t, s.old, id, func(o *oldRated) { o.Title = "renamed" })
	}
	wantEqual(t, "document", documentOf(t, s.rated, 7), rated{7, "renamed", 9, "z"})
	s.wantIDs(t, byRating().All(), 5, 0, 1, 2, 3, 4, 6, 7)
	s.wantIDs(t, byTitle().Is("renamed"), 0, 7)
}

func pagesDefaults(t *testing.T, s *defaultStore) {
	query := docstore.Query{Where: byRating().Is(3), Limit: 2}
	page, err := s.rated.Page(t.Context(), query)
	must(t, err)
	must(t, s.rated.Delete(t.Context(), 1)) // the document at which the page ended
	query.Token = page.Next
	var rest []int64
	for _, each := range walk(t, s.rated, query) {
		rest = append(rest, each.ID)
	}
	wantEqual(t, "the rest", rest, []int64{2, 3, 4, 6})
}

func deletesDefaults(t *testing.T, s *defaultStore) {
	wantEqual(t, "deleted", deleteWhere(t, s.rated, byRating().In(docstore.UpTo[int64](3))), int64(7))
	s.wantIDs(t, byTitle().All(), 7)
	s.wantIDs(t, byMoodRating().All(), 7)
}
