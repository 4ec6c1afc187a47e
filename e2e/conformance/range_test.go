package conformance

import (
	"math"
	"slices"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/waybook/waybook/internal/docstore"
)

func rangeCases() []testCase {
	return []testCase{
		{"a range of integers compares by value, also below zero", integerRange},
		{"a range of strings compares by bytes", stringRange},
		{"FromID narrows a selection to the documents whose id is at least the given one", fromID},
		{"a page token of another range is refused", rangeTokens},
		{"a page token of the other direction is refused", directedTokens},
		{"a bound of another kind, or without a field, is refused", badRanges},
		{"ranges select the documents in any of them, each once, in both directions", severalRanges},
		{"a scan of ranges starts after After, in, between, before or behind them, in both directions", severalRangesAfter},
	}
}

func integerRange(t *testing.T, engine docstore.Engine) {
	c := openPlaces(t, engine)
	sorted := []int64{math.MinInt64, -1 << 53, -256, -1, 0, 1, 256, 1 << 31, 1 << 53, math.MaxInt64}
	for _, n := range sorted {
		p := somePlace(n)
		p.Owner = n
		must(t, c.Insert(t.Context(), p))
	}
	for i, from := range sorted {
		for j := i; j < len(sorted); j++ {
			span := docstore.Span{From: number(from), To: number(sorted[j])}
			for _, selection := range []docstore.Where{
				docstore.All(docstore.IDIndex).Within(span), byOwner().In(docstore.Between(from, sorted[j])), byOwnerSlot().All().Within(span),
			} {
				var got []int64
				for _, p := range walk(t, c, docstore.Query{Where: selection, Limit: 3}) {
					got = append(got, p.ID)
				}
				wantEqual(t, selection.Index(), got, sorted[i:j+1])
			}
		}
	}
}

func stringRange(t *testing.T, engine docstore.Engine) {
	c := openWords(t, engine)
	sorted := []string{"", "\x00", "A", "a", "a\x00", "a\x00b", "ab", "abc", "b", "é", "中", "中山", "臺北", "\U0001F600"}
	for _, s := range sorted {
		must(t, c.Insert(t.Context(), word{ID: s, Group: 1, Text: s}))
	}
	for i, from := range sorted {
		for j := i; j < len(sorted); j++ {
			between := docstore.Between(from, sorted[j])
			for _, selection := range []docstore.Where{
				docstore.All(docstore.IDIndex).Within(docstore.Span{From: text(from), To: text(sorted[j])}),
				byText().In(between), byGroupText().In(1, between),
			} {
				var got []string
				for _, w := range walk(t, c, docstore.Query{Where: selection, Limit: 5}) {
					got = append(got, w.ID)
				}
				wantEqual(t, selection.Index(), got, sorted[i:j+1])
			}
		}
	}
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

func fromID(t *testing.T, engine docstore.Engine) {
	c := placesWith(t, engine, somePlaces(1, 9)...)
	wantEqual(t, "of an owner", walk(t, c, docstore.Query{Where: byOwner().Is(1).FromID(4), Limit: 1}), []place{somePlace(4), somePlace(7)})
	wantEqual(t, "of all", walk(t, c, docstore.Query{Where: docstore.All(docstore.IDIndex).FromID(8), Limit: 5}), somePlaces(8, 9))
}

func rangeTokens(t *testing.T, engine docstore.Engine) {
	c := placesWith(t, engine, somePlaces(1, 9)...)
	page := firstPage(t, c, docstore.Query{Where: byOwner().In(docstore.Between[int64](0, 2)), Limit: 1})
	for _, other := range []docstore.Where{
		byOwner().All(), byOwner().In(docstore.Span{From: docstore.ValueOf(int64(0))}), byOwner().In(docstore.UpTo[int64](2)),
		byOwner().In(docstore.Between[int64](1, 2)), byOwner().In(docstore.Between[int64](2, 0)),
		byOwner().In(docstore.Between[int64](0, 2), docstore.Between[int64](0, 2)),
		byOwner().In(docstore.UpTo[int64](0), docstore.UpTo[int64](2)),
		byOwner().In(docstore.Span{From: docstore.ValueOf(int64(0))}, docstore.UpTo[int64](2)),
	} {
		_, err := c.Page(t.Context(), docstore.Query{Where: other, Token: page.Next, Limit: 1})
		wantError(t, err, docstore.ErrBadToken)
	}
}

func badRanges(t *testing.T, engine docstore.Engine) {
	c := placesWith(t, engine, somePlaces(1, 3)...)
	table := openTable(t, engine, placeSpec())
	for _, selection := range []docstore.Where{
		byOwner().All().Within(docstore.Span{From: text("1")}),
		byOwner().All().Within(docstore.Span{From: number(1)}, docstore.Span{To: text("1")}),
		byTitle().All().Within(docstore.Span{From: number(1)}),
		byOwnerTitle().First(1).Within(docstore.Span{To: number(1)}),
		where("by_owner", number(1), number(1)).Within(docstore.Span{From: number(1)}),
	} {
		_, _, err := table.Scan(t.Context(), docstore.Scan{Where: selection, Limit: 1})
		wantPlain(t, err)
		_, err = c.Page(t.Context(), docstore.Query{Where: selection, Limit: 1})
		wantPlain(t, err)
		_, err = c.DeleteAll(t.Context(), selection)
		wantPlain(t, err)
	}
	for _, after := range [][]docstore.Value{{}, {number(1)}, {text("1"), number(1)}, {number(1), number(1), number(1)}} {
		_, _, err := table.Scan(t.Context(), docstore.Scan{Where: byOwner().All(), After: after, Limit: 1})
		wantPlain(t, err)
	}
	wantContents(t, c, somePlaces(1, 3))
}

// someSpans returns lists of spans of every kind, with bounds that are the values of four
// documents in ascending order.
func someSpans(v [4]docstore.Value) map[string][]docstore.Span {
	span := func(from, to int) docstore.Span { return docstore.Span{From: v[from], To: v[to]} }
	return map[string][]docstore.Span{
		"one":             {span(1, 2)},
		"apart":           {span(0, 1), span(2, 3)},
		"unsorted":        {span(2, 3), span(0, 1)},
		"overlapping":     {span(0, 2), span(1, 3)},
		"one in another":  {span(0, 3), span(1, 2)},
		"touching":        {span(0, 1), span(1, 2)},
		"equal":           {span(1, 2), span(1, 2)},
		"single values":   {span(3, 3), span(0, 0), span(2, 2)},
		"one inverted":    {span(3, 0), span(1, 2)},
		"open ends":       {{To: v[0]}, {From: v[3]}},
		"open and within": {{To: v[2]}, span(0, 1), {From: v[3]}},
		"without bounds":  {{}, span(0, 1)},
		"open together":   {{From: v[1]}, {To: v[2]}},
	}
}

func severalRanges(t *testing.T, engine docstore.Engine) {
	c := openPlaces(t, engine)
	places := somePlaces(1, 20)
	insertAll(t, c, places)
	for _, o := range placeOrders() {
		for n := range o.fields(places[0]) {
			all := o.pick(places, o.fields(places[10])[:n])
			equal := o.fields(places[10])[:n]
			for name, spans := range someSpans(quarters(o, n, all)) {
				what := o.index + ", " + name
				selection := where(o.index, equal...).Within(spans...)
				want := o.cut(all, n, spans...)
				for _, isDescending := range directions {
					query := docstore.Query{Where: selection, Limit: 3, Descending: isDescending}
					wantEqual(t, what, walk(t, c, query), turned(want, isDescending))
				}
				wantEqual(t, "count of "+what, countOf(t, c, selection), int64(len(want)))
			}
		}
	}
}

// quarters returns the values in field n of four documents that divide a sorted list.
func quarters(o order, n int, all []place) (values [4]docstore.Value) {
	for i := range values {
		values[i] = o.fields(all[(i+1)*len(all)/6])[n]
	}
	return values
}

func severalRangesAfter(t *testing.T, engine docstore.Engine) {
	places := somePlaces(1, 15)
	placesWith(t, engine, places...)
	table := openTable(t, engine, placeSpec())
	for _, o := range placeOrders() {
		for name, spans := range someSpans(quarters(o, 0, o.pick(places, nil))) {
			for _, isDescending := range directions {
				all := turned(o.pick(places, nil), isDescending)
				for at, after := range all {
					scan := docstore.Scan{Where: docstore.All(o.index).Within(spans...), After: o.fields(after), Limit: 3, Descending: isDescending}
					got, more := scanPlaces(t, table, scan)
					want := o.cut(all[at+1:], 0, spans...)
					wantEqual(t, o.index+", "+name, got, want[:min(3, len(want))])
					wantEqual(t, "more of "+name, more, len(want) > 3)
				}
			}
		}
	}
}

var directions = []bool{false, true}

// turned returns places in the order of a walk.
func turned[T any](all []T, isDescending bool) []T {
	all = slices.Clone(all)
	if isDescending {
		slices.Reverse(all)
	}
	return all
}

func directedTokens(t *testing.T, engine docstore.Engine) {
	c := placesWith(t, engine, somePlaces(1, 9)...)
	for _, isDescending := range directions {
		query := docstore.Query{Where: byOwner().All(), Descending: isDescending, Limit: 2}
		page := firstPage(t, c, query)
		query.Token, query.Descending = page.Next, !isDescending
		_, err := c.Page(t.Context(), query)
		wantError(t, err, docstore.ErrBadToken)
	}
}

func sparseCases() []testCase {
	return []testCase{
		{"a sparse index has the documents that have its field, and no others", sparseHasFew},
		{"DeleteAll by a sparse index leaves the documents that lack its field", sparseDeletesFew},
		{"a deletion and an update may require that a field is missing", requiresMissing},
	}
}

// flagged returns a place with a flag; 0 for none.
func flagged(id, flag int64) place {
	p := somePlace(id)
	p.Flag = flag
	return p
}

func setFlag(t *testing.T, c *places, id, flag int64) {
	t.Helper()
	updated(t, c, id, func(p *place) { p.Flag = flag })
}

func sparseHasFew(t *testing.T, engine docstore.Engine) {
	c := openPlaces(t, engine)
	insertAll(t, c, []place{flagged(1, 7), flagged(2, 0), flagged(3, 7), flagged(4, -1), flagged(5, 0)})
	wantFlagged := func(want ...int64) {
		t.Helper()
		got := []int64{}
		for _, p := range walk(t, c, docstore.Query{Where: byFlag().All(), Limit: 1}) {
			got = append(got, p.ID)
		}
		wantEqual(t, "flagged", got, want)
		wantEqual(t, "count", countOf(t, c, byFlag().All()), int64(len(want)))
	}
	wantFlagged(4, 1, 3)
	setFlag(t, c, 1, 0)
	wantFlagged(4, 3)
	setFlag(t, c, 2, 7)
	must(t, c.UpdateMany(t.Context(), []int64{4, 5}, func(p *place) bool { p.Flag = p.ID % 4; return true }))
	wantFlagged(5, 2, 3)
	wantEqual(t, "with 7", walk(t, c, docstore.Query{Where: byFlag().Is(7), Limit: 1, Descending: true}), []place{flagged(3, 7), flagged(2, 7)})
	wantEqual(t, "from 3 on with 7", walk(t, c, docstore.Query{Where: byFlag().Is(7).FromID(3), Limit: 1}), []place{flagged(3, 7)})
	wantEqual(t, "up to 1", walk(t, c, docstore.Query{Where: byFlag().In(docstore.UpTo[int64](1)), Limit: 1}), []place{flagged(5, 1)})
	must(t, c.Delete(t.Context(), 3))
	must(t, c.Delete(t.Context(), 4))
	wantFlagged(5, 2)
	wantContents(t, c, []place{flagged(1, 0), flagged(2, 7), flagged(5, 1)})
}

func sparseDeletesFew(t *testing.T, engine docstore.Engine) {
	c := openPlaces(t, engine)
	insertAll(t, c, []place{flagged(1, 7), flagged(2, 0), flagged(3, -1)})
	wantEqual(t, "deleted", deleteWhere(t, c, byFlag().All()), int64(2))
	wantContents(t, c, []place{flagged(2, 0)})
}

func requiresMissing(t *testing.T, engine docstore.Engine) {
	c := openPlaces(t, engine)
	insertAll(t, c, []place{flagged(1, 7), flagged(2, 0)})
	lacks := docstore.Lacks("flag")
	for id, want := range map[int64]error{1: docstore.ErrConflict, 2: nil, 3: docstore.ErrNotFound} {
		_, err := c.Modify(t.Context(), id, docstore.Edit{If: []docstore.Condition{lacks}, Set: map[string]any{"note": "changed"}})
		wantError(t, err, want)
		wantError(t, c.Delete(t.Context(), id, only(lacks, docstore.Is("note", "changed"))), want)
	}
	wantContents(t, c, []place{flagged(1, 7)})
}
