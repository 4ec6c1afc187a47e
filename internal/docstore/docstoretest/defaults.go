package docstoretest

import (
	"testing"

	"github.com/waybook/waybook/internal/docstore"
)

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
