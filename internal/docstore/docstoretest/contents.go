package docstoretest

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/waybook/waybook/internal/docstore"
)

// somePlace returns a place with unique keys that no other id has.
func somePlace(id int64) place {
	return place{
		ID: id, Owner: id % 3, Title: fmt.Sprintf("title %d", id%4), Code: fmt.Sprintf("code %d", id),
		Slot: id, Note: fmt.Sprintf("note of %d", id),
	}
}

func somePlaces(from, to int64) []place {
	var places []place
	for id := from; id <= to; id++ {
		places = append(places, somePlace(id))
	}
	return places
}

// insertAll inserts documents and checks that all are stored.
func insertAll[T any](t *testing.T, c *docstore.Collection[T], documents []T) {
	t.Helper()
	errs, err := c.InsertMany(t.Context(), documents)
	must(t, err)
	if len(errs) != len(documents) {
		t.Fatalf("got %d errors for %d documents", len(errs), len(documents))
	}
	for i, err := range errs {
		if err != nil {
			t.Fatalf("document %d: %v", i, err)
		}
	}
}

// order is the sort order of places in an index.
type order struct {
	index string
	// fields returns the values of a place in the index's fields, _id last, as for Equal.
	fields func(p place) []any
}

func placeOrders() []order {
	return []order{
		{docstore.IDIndex, func(p place) []any { return []any{p.ID} }},
		{"by_owner", func(p place) []any { return []any{p.Owner, p.ID} }},
		{"by_title", func(p place) []any { return []any{p.Title, p.ID} }},
		{"by_owner_title", func(p place) []any { return []any{p.Owner, p.Title, p.ID} }},
		{"code", func(p place) []any { return []any{p.Code, p.ID} }},
		{"owner_slot", func(p place) []any { return []any{p.Owner, p.Slot, p.ID} }},
	}
}

// pick returns the places that have the given values, in the index's order.
func (o order) pick(places []place, equal []any) []place {
	picked := []place{}
	for _, p := range places {
		if slices.Equal(o.fields(p)[:len(equal)], equal) {
			picked = append(picked, p)
		}
	}
	slices.SortFunc(picked, func(a, b place) int { return compareValues(o.fields(a), o.fields(b)) })
	return picked
}

// cut returns the places whose value in field n of the order is between two bounds,
// either of which may be nil.
func (o order) cut(places []place, n int, from, to any) []place {
	left := []place{}
	for _, p := range places {
		value := o.fields(p)[n:][:1]
		if from != nil && compareValues(value, []any{from}) < 0 || to != nil && compareValues(value, []any{to}) > 0 {
			continue
		}
		left = append(left, p)
	}
	return left
}

func compareValues(a, b []any) int {
	for i := range a {
		order := 0
		switch x := a[i].(type) {
		case int64:
			order = cmp.Compare(x, b[i].(int64))
		case string:
			order = cmp.Compare(x, b[i].(string))
		}
		if order != 0 {
			return order
		}
	}
	return 0
}

// walk returns the documents of all pages of a query.
func walk[T any](t failer, c *docstore.Collection[T], query docstore.Query) []T {
	t.Helper()
	all := []T{}
	for {
		page, err := c.Page(t.Context(), query)
		if err != nil {
			t.Fatal(err)
		}
		if len(page.Documents) > query.Limit || len(page.Documents) == 0 && page.Next != "" {
			t.Fatalf("got a page of %d documents, next page token %q, limit %d", len(page.Documents), page.Next, query.Limit)
		}
		all = append(all, page.Documents...)
		if page.Next == "" {
			return all
		}
		query.Token = page.Next
	}
}

// wantContents checks that a collection has exactly these places, by a walk and a count
// of every index.
func wantContents(t failer, c *docstore.Collection[place], want []place) {
	t.Helper()
	for _, o := range placeOrders() {
		got := walk(t, c, docstore.Query{Index: o.index, Limit: 7})
		wantEqual(t, o.index, got, o.pick(want, nil))
		n, err := c.Count(t.Context(), o.index)
		if err != nil || n != int64(len(want)) {
			t.Fatalf("count by %s is %d, %v; want %d", o.index, n, err, len(want))
		}
	}
}

func wantEqual(t failer, what string, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("%s:\n got %+v\nwant %+v", what, got, want)
	}
}
