package conformance

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/waybook/waybook/internal/docstore"
)

// somePlace returns a place with unique keys that no other id has.
func somePlace(id int64) place {
	return place{
		ID: id, Owner: id % 3, Title: fmt.Sprintf("title %d", id%4), Code: fmt.Sprintf("code %d", id),
		Slot: id, Note: fmt.Sprintf("note of %d", id), Flag: id % 5,
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
func insertAll[K docstore.Key, T any](t *testing.T, c *docstore.Collection[K, T], documents []T) {
	t.Helper()
	must(t, c.Insert(t.Context(), documents...))
}

// placesWith opens the collection of places, and stores some.
func placesWith(t *testing.T, engine docstore.Engine, documents ...place) *places {
	t.Helper()
	c := openPlaces(t, engine)
	insertAll(t, c, documents)
	return c
}

// documentOf returns the document with an id.
func documentOf[K docstore.Key, T any](t *testing.T, c *docstore.Collection[K, T], id K) T {
	t.Helper()
	found, err := c.Get(t.Context(), id)
	must(t, err)
	return found
}

// updated changes a document, and returns it as it was written.
func updated[K docstore.Key, T any](t *testing.T, c *docstore.Collection[K, T], id K, change func(*T)) T {
	t.Helper()
	written, err := c.Update(t.Context(), id, func(document *T) error { change(document); return nil })
	must(t, err)
	return written
}

// countOf returns how many documents are selected.
func countOf[K docstore.Key, T any](t *testing.T, c *docstore.Collection[K, T], selection docstore.Where) int64 {
	t.Helper()
	n, err := c.Count(t.Context(), selection)
	must(t, err)
	return n
}

// deleteWhere deletes the selected documents, and returns how many they were.
func deleteWhere[K docstore.Key, T any](t *testing.T, c *docstore.Collection[K, T], selection docstore.Where) int64 {
	t.Helper()
	n, err := c.DeleteAll(t.Context(), selection)
	must(t, err)
	return n
}

// firstPage returns the page of a query.
func firstPage[T any](t *testing.T, c pager[T], query docstore.Query) docstore.Page[T] {
	t.Helper()
	page, err := c.Page(t.Context(), query)
	must(t, err)
	return page
}

// changesOf returns a page of changes.
func changesOf(t *testing.T, c *posts, query docstore.ChangesQuery) docstore.ChangesPage[int64] {
	t.Helper()
	page, err := c.Changes(t.Context(), query)
	must(t, err)
	return page
}

// rawOf returns the document with an id as it is stored.
func rawOf(t *testing.T, table docstore.Table, id int64) bson.Raw {
	t.Helper()
	raw, err := docstore.GetFrom(t.Context(), table, number(id), docstore.Present)
	must(t, err)
	return raw
}

// scanRaw returns documents as they are stored, and whether there are more.
func scanRaw(t *testing.T, table docstore.Table, scan docstore.Scan) (documents []bson.Raw, more bool) {
	t.Helper()
	documents, more, err := table.Scan(t.Context(), scan)
	must(t, err)
	return documents, more
}

// order is the sort order of places in an index.
type order struct {
	index string
	// fields returns the values of a place in the index's fields, _id last.
	fields func(p place) []docstore.Value
	// omits, unless nil, reports whether the index leaves out a place.
	omits func(p place) bool
}

func number(n int64) docstore.Value { return docstore.ValueOf(n) }

func text(s string) docstore.Value { return docstore.ValueOf(s) }

// where selects the documents with values in the first fields of an index.
func where(index string, equal ...docstore.Value) docstore.Where {
	selection := docstore.All(index)
	for _, value := range equal {
		selection = selection.And(value)
	}
	return selection
}

func placeOrders() []order {
	return []order{
		{docstore.IDIndex, func(p place) []docstore.Value { return []docstore.Value{number(p.ID)} }, nil},
		{"by_owner", func(p place) []docstore.Value { return []docstore.Value{number(p.Owner), number(p.ID)} }, nil},
		{"by_title", func(p place) []docstore.Value { return []docstore.Value{text(p.Title), number(p.ID)} }, nil},
		{"by_owner_title", func(p place) []docstore.Value { return []docstore.Value{number(p.Owner), text(p.Title), number(p.ID)} }, nil},
		{"code", func(p place) []docstore.Value { return []docstore.Value{text(p.Code), number(p.ID)} }, nil},
		{"owner_slot", func(p place) []docstore.Value { return []docstore.Value{number(p.Owner), number(p.Slot), number(p.ID)} }, nil},
		{"flag", func(p place) []docstore.Value { return []docstore.Value{number(p.Flag), number(p.ID)} }, func(p place) bool { return p.Flag == 0 }},
	}
}

// pick returns the places that have the given values, in the index's order.
func (o order) pick(places []place, equal []docstore.Value) []place {
	picked := []place{}
	for _, p := range places {
		if slices.Equal(o.fields(p)[:len(equal)], equal) && (o.omits == nil || !o.omits(p)) {
			picked = append(picked, p)
		}
	}
	slices.SortFunc(picked, func(a, b place) int { return slices.CompareFunc(o.fields(a), o.fields(b), docstore.Value.Compare) })
	return picked
}

// cut returns the places whose value in field n of the order is in one of the spans.
func (o order) cut(places []place, n int, spans ...docstore.Span) []place {
	left := []place{}
	for _, p := range places {
		if slices.ContainsFunc(spans, func(span docstore.Span) bool { return isWithin(o.fields(p)[n], span) }) {
			left = append(left, p)
		}
	}
	return left
}

func isWithin(value docstore.Value, span docstore.Span) bool {
	return (span.From.IsNone() || value.Compare(span.From) >= 0) && (span.To.IsNone() || value.Compare(span.To) <= 0)
}

// pager is a collection or a projection.
type pager[T any] interface {
	Page(context.Context, docstore.Query) (docstore.Page[T], error)
}

// walk returns the documents of all pages of a query.
func walk[T any](t failer, c pager[T], query docstore.Query) []T {
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
func wantContents(t failer, c *places, want []place) {
	t.Helper()
	for _, o := range placeOrders() {
		picked := o.pick(want, nil)
		wantEqual(t, o.index, walk(t, c, docstore.Query{Where: docstore.All(o.index), Limit: 7}), picked)
		n, err := c.Count(t.Context(), docstore.All(o.index))
		if err != nil || n != int64(len(picked)) {
			t.Fatalf("count by %s is %d, %v; want %d", o.index, n, err, len(picked))
		}
	}
}

func wantEqual(t failer, what string, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("%s:\n got %+v\nwant %+v", what, got, want)
	}
}

// refusals returns why Insert has refused each of n documents.
func refusals(t failer, n int, err error) []error {
	t.Helper()
	refused, isRefused := errors.AsType[*docstore.RefusedError](err)
	if err != nil && !isRefused {
		t.Fatal(err)
	}
	if refused == nil {
		return make([]error, n)
	}
	return refused.Errs
}

// raise raises an integer field of a document and sets others, and returns what the field was.
func raise[T any](
	ctx context.Context, c *docstore.Collection[int64, T], id int64, to docstore.Amount, set map[string]any, conditions ...docstore.Condition,
) (int64, error) {
	before, err := c.Modify(ctx, id, docstore.Edit{If: conditions, Set: set, Raise: to, Fields: []string{to.Field}})
	if err != nil {
		return 0, err
	}
	raw, err := bson.Marshal(before)
	if err != nil {
		return 0, err
	}
	was, _ := bson.Raw(raw).Lookup(to.Field).Int64OK()
	return was, nil
}

// scanPlaces scans and decodes.
func scanPlaces(t failer, table docstore.Table, scan docstore.Scan) (got []place, more bool) {
	t.Helper()
	raws, more, err := table.Scan(t.Context(), scan)
	if err != nil {
		t.Fatal(err)
	}
	got = make([]place, len(raws))
	for i, raw := range raws {
		if err := bson.Unmarshal(raw, &got[i]); err != nil {
			t.Fatal(err)
		}
	}
	return got, more
}

// turned returns places in the order of a walk.
func turned[T any](all []T, isDescending bool) []T {
	all = slices.Clone(all)
	if isDescending {
		slices.Reverse(all)
	}
	return all
}
