package embedded_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/waybook/waybook/internal/docstore"
)

// article is a document with texts of any length.
type article struct {
	ID    int64  `bson:"_id"`
	Title string `bson:"title"`
	Body  string `bson:"body"`
	Note  string `bson:"note,omitempty"`
	Seen  int64  `bson:"seen"`
	Likes int64  `bson:"likes"`
}

func byTitle() docstore.Index1[string] {
	return docstore.Index1[string]{Name: "title", A: "title"}
}

func openArticles(t testing.TB, engine docstore.Engine) *docstore.Collection[int64, article] {
	t.Helper()
	articles, err := docstore.Open[int64, article](t.Context(), engine, docstore.Spec{
		Name: "articles", ID: docstore.Int64, Indexes: []docstore.Index{byTitle().Declare()},
	})
	if err != nil {
		t.Fatal(err)
	}
	return articles
}

func TestASmallChangeOfALargeDocumentIsASmallWrite(t *testing.T) {
	articles := openArticles(t, openAt(t, filepath.Join(t.TempDir(), "store.db")))
	for id := range int64(8) {
		must(t, articles.Insert(t.Context(), article{ID: id, Title: fmt.Sprint(id), Body: strings.Repeat("a", 300_000)}))
	}
	const small = 64 << 10
	before := written(t)
	_, err := articles.Modify(t.Context(), 3, docstore.Edit{Raise: docstore.Amount{Field: "seen", By: 1}})
	must(t, err)
	if n := written(t) - before; n > small {
		t.Errorf("a raise wrote %d bytes", n)
	}
	before = written(t)
	_, err = articles.Update(t.Context(), 3, func(a *article) error { a.Likes++; return nil })
	must(t, err)
	if n := written(t) - before; n > small {
		t.Errorf("an update wrote %d bytes", n)
	}
}

// TestLongTextsBehaveLikeShortOnes runs random writes and compares every read with a map.
func TestLongTextsBehaveLikeShortOnes(t *testing.T) {
	engine := openAt(t, filepath.Join(t.TempDir(), "store.db"))
	articles, model := openArticles(t, engine), map[int64]article{}
	titles := docstore.Project[struct {
		ID    int64  `bson:"_id"`
		Title string `bson:"title"`
		Note  string `bson:"note,omitempty"`
	}](articles)
	random := rand.New(rand.NewPCG(1, 2))
	text := func() string {
		n := []int{0, 1, 2041, 2042, 2043, 2044, 5000, 70_000}[random.IntN(8)]
		return strings.Repeat(string(rune('a'+random.IntN(26))), n)
	}
	for range 600 {
		id := random.Int64N(12)
		switch old, exists := model[id]; random.IntN(6) {
		case 0, 1:
			made := article{ID: id, Title: fmt.Sprint(random.IntN(5)), Body: text(), Note: text()}
			if err := articles.Insert(t.Context(), made); (err == nil) == exists {
				t.Fatalf("insert: got %v", err)
			} else if !exists {
				model[id] = made
			}
		case 2:
			if err := articles.Delete(t.Context(), id); (err == nil) != exists {
				t.Fatalf("delete: got %v", err)
			}
			delete(model, id)
		case 3:
			if _, err := articles.Modify(t.Context(), id, docstore.Edit{Raise: docstore.Amount{Field: "seen", By: old.Seen + 1}}); (err == nil) != exists {
				t.Fatalf("raise: got %v", err)
			} else if exists {
				old.Seen++
				model[id] = old
			}
		default:
			changed, err := articles.Update(t.Context(), id, func(a *article) error {
				switch random.IntN(4) {
				case 0:
					a.Body = text()
				case 1:
					a.Note = text()
				case 2:
					a.Title = fmt.Sprint(random.IntN(5))
				}
				a.Likes++
				return nil
			})
			if (err == nil) != exists {
				t.Fatalf("update: got %v", err)
			} else if exists {
				model[id] = changed
			}
		}
		if got, err := articles.Get(t.Context(), id); err == nil && got != model[id] {
			t.Fatalf("document %d differs", id)
		}
	}
	must(t, engine.Check(t.Context()))
	var found []article
	for batch, err := range articles.Batches(t.Context(), docstore.Query{Where: byTitle().All(), Limit: 5}) {
		must(t, err)
		found = append(found, batch...)
	}
	want := slices.SortedFunc(maps.Values(model), func(a, b article) int {
		return strings.Compare(a.Title, b.Title)*2 + int(min(max(a.ID-b.ID, -1), 1))
	})
	if !slices.Equal(found, want) {
		t.Errorf("got %d documents, want %d", len(found), len(want))
	}
	for batch, err := range titles.Batches(t.Context(), docstore.Query{Where: byTitle().All(), Limit: 5}) {
		must(t, err)
		for _, each := range batch {
			if whole := model[each.ID]; each.Title != whole.Title || each.Note != whole.Note {
				t.Errorf("document %d differs in part", each.ID)
			}
		}
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
