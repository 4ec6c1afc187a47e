package docstoretest

import (
	"math"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/waybook/waybook/internal/docstore"
)

func rangeCases() []testCase {
	return []testCase{
		{"a range includes its bounds and all values between them, in every index", everyRange},
		{"a range of integers compares by value, also below zero", integerRange},
		{"a range of strings compares by bytes", stringRange},
		{"a range with From above To is empty", emptyRange},
		{"a scan of a range starts after After, inside or outside the range", rangeAfter},
		{"a page token of another range is refused", rangeTokens},
		{"a bound of another kind, or without a field, is refused", badRanges},
	}
}

func everyRange(t *testing.T, engine docstore.Engine) {
	c := openPlaces(t, engine)
	places := somePlaces(-8, 12)
	insertAll(t, c, places)
	samples := []place{places[3], places[9], places[15], somePlace(99)}
	for _, o := range placeOrders() {
		for n := range o.fields(places[0]) {
			equal := o.fields(places[12])[:n]
			for _, low := range samples {
				for _, high := range samples {
					for _, bounds := range [][2]any{
						{o.fields(low)[n], nil}, {nil, o.fields(high)[n]}, {o.fields(low)[n], o.fields(high)[n]},
					} {
						got := walk(t, c, docstore.Query{Index: o.index, Equal: equal, From: bounds[0], To: bounds[1], Limit: 4})
						wantEqual(t, o.index, got, o.cut(o.pick(places, equal), n, bounds[0], bounds[1]))
					}
				}
			}
		}
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
	for _, index := range []string{docstore.IDIndex, "by_owner", "owner_slot"} {
		for i, from := range sorted {
			for j := i; j < len(sorted); j++ {
				var got []int64
				for _, p := range walk(t, c, docstore.Query{Index: index, From: placeID(from), To: sorted[j], Limit: 3}) {
					got = append(got, p.ID)
				}
				wantEqual(t, index, got, sorted[i:j+1])
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
	for _, query := range []docstore.Query{
		{Index: docstore.IDIndex}, {Index: "by_text"}, {Index: "by_group_text", Equal: []any{int64(1)}},
	} {
		for i, from := range sorted {
			for j := i; j < len(sorted); j++ {
				query.From, query.To, query.Limit = from, sorted[j], 5
				var got []string
				for _, w := range walk(t, c, query) {
					got = append(got, w.ID)
				}
				wantEqual(t, query.Index, got, sorted[i:j+1])
			}
		}
	}
}

func emptyRange(t *testing.T, engine docstore.Engine) {
	c := openPlaces(t, engine)
	insertAll(t, c, somePlaces(1, 9))
	for _, query := range []docstore.Query{
		{Index: docstore.IDIndex, From: int64(5), To: int64(4)},
		{Index: "by_owner", From: int64(2), To: int64(0)},
		{Index: "by_owner_title", Equal: []any{int64(1)}, From: "title 3", To: "title 1"},
		{Index: "code", From: "code 10", To: "code"},
		{Index: "code", From: "code 91", To: "code 99"},
	} {
		query.Limit = 5
		wantEqual(t, query.Index, walk(t, c, query), []place{})
	}
}

func rangeAfter(t *testing.T, engine docstore.Engine) {
	c := openPlaces(t, engine)
	places := somePlaces(1, 20)
	insertAll(t, c, places)
	table := openTable(t, engine, placeSpec())
	for _, o := range placeOrders() {
		all := o.pick(places, nil)
		from, to := o.fields(all[6])[0], o.fields(all[13])[0]
		for at, after := range all {
			raws, err := table.Scan(t.Context(), docstore.Scan{Index: o.index, From: from, To: to, After: o.fields(after), Limit: 50})
			must(t, err)
			got := make([]place, len(raws))
			for i, raw := range raws {
				must(t, bson.Unmarshal(raw, &got[i]))
			}
			wantEqual(t, o.index, got, o.cut(all[at+1:], 0, from, to))
		}
	}
}

func rangeTokens(t *testing.T, engine docstore.Engine) {
	c := openPlaces(t, engine)
	insertAll(t, c, somePlaces(1, 9))
	query := docstore.Query{Index: "by_owner", From: int64(0), To: int64(2), Limit: 1}
	page, err := c.Page(t.Context(), query)
	must(t, err)
	for _, bounds := range [][2]any{{nil, nil}, {int64(0), nil}, {nil, int64(2)}, {int64(1), int64(2)}, {int64(2), int64(0)}} {
		other := query
		other.From, other.To, other.Token = bounds[0], bounds[1], page.Next
		_, err := c.Page(t.Context(), other)
		wantError(t, err, docstore.ErrBadToken)
	}
}

func badRanges(t *testing.T, engine docstore.Engine) {
	c := openPlaces(t, engine)
	insertAll(t, c, somePlaces(1, 3))
	table := openTable(t, engine, placeSpec())
	for _, scan := range []docstore.Scan{
		{Index: "by_owner", From: "1"},
		{Index: "by_owner", To: 1.5},
		{Index: "by_title", From: int64(1)},
		{Index: "by_owner_title", Equal: []any{int64(1)}, To: int64(1)},
		{Index: "by_owner", Equal: []any{int64(1), int64(1)}, From: int64(1)},
	} {
		scan.Limit = 1
		_, err := table.Scan(t.Context(), scan)
		wantPlain(t, err)
		_, err = c.Page(t.Context(), docstore.Query{Index: scan.Index, Equal: scan.Equal, From: scan.From, To: scan.To, Limit: 1})
		wantPlain(t, err)
	}
}
