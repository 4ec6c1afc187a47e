package docstoretest

import (
	"encoding/base64"
	"math"
	"slices"
	"testing"

	"github.com/waybook/waybook/internal/docstore"
)

func pageCases() []testCase {
	return []testCase{
		{"the last page has no next page token, even if it is full, and may be very large", lastPage},
		{"documents that exist during the whole walk appear exactly once", othersComeAndGo},
		{"a page token stays valid after its document is deleted", tokenOutlives},
		{"a page token of another query is refused", badTokens},
		{"a limit below one is refused", badLimits},
		{"Batches returns all documents and can be stopped early", batches},
		{"BatchesUpTo stops after the given count", boundedBatches},
		{"an error ends Batches", batchesFail},
	}
}

func lastPage(t *testing.T, engine docstore.Engine) {
	c := placesWith(t, engine, somePlaces(1, 6)...)
	page := firstPage(t, c, docstore.Query{Where: byCode().All(), Limit: 6})
	if len(page.Documents) != 6 || page.Next != "" {
		t.Fatalf("got %d documents, next page token %q", len(page.Documents), page.Next)
	}
	page = firstPage(t, c, docstore.Query{Where: byOwner().Is(7), Limit: 6})
	if len(page.Documents) != 0 || page.Next != "" {
		t.Fatalf("got %d documents, next page token %q", len(page.Documents), page.Next)
	}
	wantEqual(t, "a very large page", len(walk(t, c, docstore.Query{Where: byOwner().All(), Limit: math.MaxInt})), 6)
}

func othersComeAndGo(t *testing.T, engine docstore.Engine) {
	for _, o := range placeOrders() {
		spec := placeSpec()
		spec.Name += o.index
		c := openAs[place](t, engine, spec)
		var stay []place
		for id := int64(0); id < 40; id += 2 {
			stay = append(stay, somePlace(id))
			if id%4 == 0 {
				must(t, c.Insert(t.Context(), somePlace(id+1)))
			}
		}
		insertAll(t, c, stay)
		var seen []place
		query := docstore.Query{Where: docstore.All(o.index), Limit: 3}
		for round := int64(0); ; round++ {
			page := firstPage(t, c, query)
			seen = append(seen, page.Documents...)
			if page.Next == "" {
				break
			}
			query.Token = page.Next
			// Insert after and before the position of the walk, in any order.
			must(t, c.Insert(t.Context(), somePlace(1001+2*round)))
			must(t, c.Insert(t.Context(), somePlace(-1001-2*round)))
			if round < 10 {
				must(t, c.Delete(t.Context(), round*4+1))
			}
		}
		isFleeting := func(p place) bool { return p.ID%2 != 0 }
		wantEqual(t, o.index, slices.DeleteFunc(seen, isFleeting), o.pick(stay, nil))
	}
}

func tokenOutlives(t *testing.T, engine docstore.Engine) {
	c := placesWith(t, engine, somePlaces(1, 9)...)
	query := docstore.Query{Where: byOwner().Is(1), Limit: 1}
	page := firstPage(t, c, query)
	must(t, c.Delete(t.Context(), page.Documents[0].ID))
	query.Token = page.Next
	wantEqual(t, "the rest", walk(t, c, query), []place{somePlace(4), somePlace(7)})
}

func badTokens(t *testing.T, engine docstore.Engine) {
	c := placesWith(t, engine, somePlaces(1, 9)...)
	spec := placeSpec()
	spec.Name = "places_too"
	other := openAs[place](t, engine, spec)
	insertAll(t, other, somePlaces(1, 9))

	query := docstore.Query{Where: byOwnerTitle().First(1), Limit: 1}
	page := firstPage(t, c, query)
	good, err := base64.RawURLEncoding.DecodeString(page.Next)
	must(t, err)
	bad := []string{"x", "!", " ", "中", page.Next + "A", page.Next + "=", "AAAAAAAAAAAAAAAA"}
	for n := 1; n < len(good); n++ {
		bad = append(bad, base64.RawURLEncoding.EncodeToString(good[:n]))
	}
	bad = append(bad, base64.RawURLEncoding.EncodeToString(append(slices.Clone(good), 0)))
	for _, token := range bad {
		query.Token = token
		_, err := c.Page(t.Context(), query)
		wantError(t, err, docstore.ErrBadToken)
	}

	query.Token = page.Next
	_, err = other.Page(t.Context(), query)
	wantError(t, err, docstore.ErrBadToken)
	query.Where = byOwnerTitle().First(2)
	_, err = c.Page(t.Context(), query)
	wantError(t, err, docstore.ErrBadToken)
	_, err = c.Page(t.Context(), docstore.Query{Where: byTitle().All(), Token: page.Next, Limit: 1})
	wantError(t, err, docstore.ErrBadToken)
}

func badLimits(t *testing.T, engine docstore.Engine) {
	c := openPlaces(t, engine)
	for _, limit := range []int{0, -1, math.MinInt} {
		_, err := c.Page(t.Context(), docstore.Query{Where: byCode().All(), Limit: limit})
		wantPlain(t, err)
	}
	_, _, err := openTable(t, engine, placeSpec()).Scan(t.Context(), docstore.Scan{Where: byCode().All()})
	wantPlain(t, err)
}

func batches(t *testing.T, engine docstore.Engine) {
	c := openPlaces(t, engine)
	places := somePlaces(1, 10)
	insertAll(t, c, places)
	var sizes []int
	for batch, err := range c.Batches(t.Context(), docstore.Query{Where: byTitle().All(), Limit: 4}) {
		must(t, err)
		sizes = append(sizes, len(batch))
	}
	wantEqual(t, "batches", sizes, []int{4, 4, 2})
	for _, err := range c.Batches(t.Context(), docstore.Query{Where: byTitle().All(), Limit: 4}) {
		must(t, err)
		break
	}
	for _, err := range c.Batches(t.Context(), docstore.Query{Where: byOwner().Is(9), Limit: 4}) {
		t.Fatalf("got a batch without a match: %v", err)
	}
}

func boundedBatches(t *testing.T, engine docstore.Engine) {
	c := openPlaces(t, engine)
	places := somePlaces(1, 10)
	insertAll(t, c, places)
	for count, want := range map[int64][]int{
		1: {1}, 3: {3}, 4: {4}, 5: {4, 1}, 8: {4, 4}, 9: {4, 4, 1}, 10: {4, 4, 2}, 11: {4, 4, 2}, math.MaxInt64: {4, 4, 2}, 0: {4, 4, 2},
	} {
		var sizes []int
		var got []place
		for batch, err := range c.BatchesUpTo(t.Context(), docstore.Query{Where: docstore.All(docstore.IDIndex), Limit: 4}, count) {
			must(t, err)
			sizes = append(sizes, len(batch))
			got = append(got, batch...)
		}
		wantEqual(t, "batches", sizes, want)
		wantEqual(t, "documents", got, places[:len(got)])
	}
	for _, err := range c.BatchesUpTo(t.Context(), docstore.Query{Where: docstore.All(docstore.IDIndex), Limit: 4}, -1) {
		wantPlain(t, err)
	}
}

func batchesFail(t *testing.T, engine docstore.Engine) {
	c := openPlaces(t, engine)
	rounds := 0
	for batch, err := range c.Batches(t.Context(), docstore.Query{Where: byCode().All(), Token: "x", Limit: 1}) {
		rounds++
		wantError(t, err, docstore.ErrBadToken)
		wantEqual(t, "batch", len(batch), 0)
	}
	wantEqual(t, "rounds", rounds, 1)
}
