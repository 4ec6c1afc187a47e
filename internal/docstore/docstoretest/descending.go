package docstoretest

import (
	"slices"
	"testing"

	"github.com/waybook/waybook/internal/docstore"
)

func descendingCases() []testCase {
	return []testCase{
		{"a descending walk is an ascending one reversed, in every index, range and page size", walksBack},
		{"a descending scan of several ranges starts after After, in, between, before or behind them", scansBackAfter},
		{"a descending walk with a budget returns each document once", walksBackWithBudget},
		{"a page token of the other direction is refused", directedTokens},
		{"a descending scan of an index reads the fields of a projection", projectsBack},
	}
}

// reversed returns a reversed copy.
func reversed[T any](all []T) []T {
	all = slices.Clone(all)
	slices.Reverse(all)
	return all
}

func walksBack(t *testing.T, engine docstore.Engine) {
	c := openPlaces(t, engine)
	places := somePlaces(-8, 12)
	insertAll(t, c, places)
	for _, o := range placeOrders() {
		for limit := 1; limit <= len(places)+1; limit += 4 {
			got := walk(t, c, docstore.Query{Where: docstore.All(o.index), Descending: true, Limit: limit})
			wantEqual(t, o.index, got, reversed(o.pick(places, nil)))
		}
		for n := range o.fields(places[0]) {
			equal := o.fields(places[10])[:n]
			all := o.pick(places, equal)
			for name, spans := range someSpans(quarters(o, n, all)) {
				query := docstore.Query{Where: where(o.index, equal...).Within(spans...), Descending: true, Limit: 3}
				wantEqual(t, o.index+", "+name, walk(t, c, query), reversed(o.cut(all, n, spans...)))
			}
		}
	}
}

func scansBackAfter(t *testing.T, engine docstore.Engine) {
	c := openPlaces(t, engine)
	places := somePlaces(1, 15)
	insertAll(t, c, places)
	table := openTable(t, engine, placeSpec())
	for _, o := range placeOrders() {
		all := reversed(o.pick(places, nil))
		for name, spans := range someSpans(quarters(o, 0, o.pick(places, nil))) {
			for at, after := range all {
				scan := docstore.Scan{Where: docstore.All(o.index).Within(spans...), Descending: true, After: o.fields(after), Limit: 3}
				got, more := scanPlaces(t, table, scan)
				want := o.cut(all[at+1:], 0, spans...)
				wantEqual(t, o.index+", "+name, got, want[:min(3, len(want))])
				wantEqual(t, "more of "+name, more, len(want) > 3)
			}
		}
	}
}

func walksBackWithBudget(t *testing.T, engine docstore.Engine) {
	c := openPlaces(t, engine)
	places := sizedPlaces(t, 200, 200, 9000, 50_000, 50_000, 200, 3000, 200, 200, 50_000, 200)
	insertAll(t, c, places)
	table := openTable(t, engine, placeSpec())
	for _, o := range placeOrders() {
		got := []place{}
		scan := docstore.Scan{Where: docstore.All(o.index), Descending: true, Limit: 5, MaxBytes: 10_000}
		for more := true; more; {
			var found []place
			found, more = scanPlaces(t, table, scan)
			got = append(got, found...)
			scan.After = o.fields(found[len(found)-1])
		}
		wantEqual(t, o.index, got, reversed(o.pick(places, nil)))
	}
}

func directedTokens(t *testing.T, engine docstore.Engine) {
	c := openPlaces(t, engine)
	insertAll(t, c, somePlaces(1, 9))
	for _, isDescending := range []bool{false, true} {
		query := docstore.Query{Where: byOwner().All(), Descending: isDescending, Limit: 2}
		page, err := c.Page(t.Context(), query)
		must(t, err)
		query.Token, query.Descending = page.Next, !isDescending
		_, err = c.Page(t.Context(), query)
		wantError(t, err, docstore.ErrBadToken)
	}
}

// projectsBack reads fields that the index has, so that an engine need not read the documents.
func projectsBack(t *testing.T, engine docstore.Engine) {
	type part struct {
		ID    int64 `bson:"_id"`
		Owner int64 `bson:"owner"`
	}
	c := openPlaces(t, engine)
	places := somePlaces(1, 12)
	insertAll(t, c, places)
	want := []part{}
	for _, p := range reversed(placeOrders()[1].pick(places, nil)) {
		want = append(want, part{p.ID, p.Owner})
	}
	got := walk(t, docstore.Project[part](c), docstore.Query{Where: byOwner().All(), Descending: true, Limit: 5})
	wantEqual(t, "parts", got, want)
}
