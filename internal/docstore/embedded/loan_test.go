package embedded_test

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

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
	must(t, err)
	return articles
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestLentDocumentsStayUntilTheLoanEndsAndOthersForEver(t *testing.T) {
	t.Parallel()
	engine := openAt(t, filepath.Join(t.TempDir(), "store.db"))
	articles := openArticles(t, engine)
	const count = 50
	for id := range int64(count) {
		must(t, articles.Insert(t.Context(), article{ID: id, Title: fmt.Sprint(id), Body: strings.Repeat("a", int(id)*60)}))
	}
	table, err := engine.Open(t.Context(), docstore.Spec{Name: "articles", ID: docstore.Int64, Indexes: []docstore.Index{byTitle().Declare()}})
	must(t, err)
	scan := docstore.Scan{Where: byTitle().All(), Limit: count}
	own, _, err := table.Scan(t.Context(), scan)
	must(t, err)
	var want []bson.Raw
	for _, document := range own {
		want = append(want, bytes.Clone(document))
	}
	scan.Loan = &docstore.Loan{}
	lent, more, err := table.Scan(t.Context(), scan)
	must(t, err)
	if more || len(lent) != count {
		t.Errorf("%d documents were lent, more: %v", len(lent), more)
	}
	write := func() { // so that free pages would be used again
		for n := range 5 {
			for id := range int64(count) {
				_, err := articles.Update(t.Context(), id, func(a *article) error { a.Note = fmt.Sprint(n); return nil })
				must(t, err)
			}
		}
	}
	expect := func(what string, got []bson.Raw) {
		for i := range got {
			if !bytes.Equal(got[i], want[i]) {
				t.Errorf("%s: %v\nwant: %v", what, got[i], want[i])
			}
		}
	}
	write()
	expect("lent", lent)
	scan.Loan.End()
	write()
	expect("owned", own)
}
