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

func TestLentDocumentsStayUntilTheLoanEnds(t *testing.T) {
	engine := openAt(t, filepath.Join(t.TempDir(), "store.db"))
	articles := openArticles(t, engine)
	const count = 50
	for id := range int64(count) {
		must(t, articles.Insert(t.Context(), article{ID: id, Title: fmt.Sprint(id), Body: strings.Repeat("a", int(id)*60)})) // the last ones are apart
	}
	table, err := engine.Open(t.Context(), docstore.Spec{Name: "articles", ID: docstore.Int64, Indexes: []docstore.Index{byTitle().Declare()}})
	must(t, err)
	scan := docstore.Scan{Where: byTitle().All(), Limit: count}
	own, _, err := table.Scan(t.Context(), scan)
	must(t, err)
	scan.Loan = &docstore.Loan{}
	lent, more, err := table.Scan(t.Context(), scan)
	must(t, err)
	for n := range 20 { // so that free pages would be used again
		for id := range int64(count) {
			_, err := articles.Update(t.Context(), id, func(a *article) error { a.Note = fmt.Sprint(n); return nil })
			must(t, err)
		}
	}
	if more || len(lent) != count {
		t.Errorf("%d documents were lent, more: %v", len(lent), more)
	}
	for i := range lent {
		if !bytes.Equal(lent[i], own[i]) {
			t.Errorf("lent: %v\ncopied: %v", bson.Raw(lent[i]), own[i])
		}
	}
	scan.Loan.End()
}
