package docstoretest

import (
	"math"
	"slices"
	"testing"

	"github.com/waybook/waybook/internal/docstore"
)

func orderCases() []testCase {
	return []testCase{
		{"integers sort by value", integersSort},
		{"strings sort by their bytes", stringsSort},
		{"strings with zero bytes sort by their bytes", zeroBytesSort},
		{"documents with equal fields sort by _id", equalFieldsSort},
		{"a scan starts after After, whether or not that document exists", scanAfter},
		{"a scan of selected documents starts after any of them", scanSelectedAfter},
		{"every index returns the documents that have the given values, in its order", everyIndexSorts},
	}
}

func integersSort(t *testing.T, engine docstore.Engine) {
	c := openPlaces(t, engine)
	sorted := []int64{math.MinInt64, -1 << 53, -256, -255, -1, 0, 1, 255, 256, 1<<31 - 1, 1 << 31, 1<<53 - 1, 1 << 53, math.MaxInt64}
	shuffled := slices.Clone(sorted)
	slices.Reverse(shuffled)
	shuffled[0], shuffled[5] = shuffled[5], shuffled[0]
	for _, n := range shuffled {
		p := somePlace(n)
		p.Owner = n
		must(t, c.Insert(t.Context(), p))
	}
	for _, index := range []string{docstore.IDIndex, "by_owner", "owner_slot"} {
		var got []int64
		for _, p := range walk(t, c, docstore.Query{Where: docstore.All(index), Limit: 3}) {
			got = append(got, p.ID)
		}
		wantEqual(t, index, got, sorted)
	}
}

func stringsSort(t *testing.T, engine docstore.Engine) {
	sortStrings(t, engine, []string{
		"", " ", "\"", "'", "A", "AB", "B", "\\", "_", "a", "a b", "ab", "abc", "b", "~", "é", "ß", "Ω",
		"あ", "中", "中文", "中山", "台北", "臺北", "﷐", "\U0001F3D4", "\U0001F3D4\uFE0F", "\U0001F600",
	})
}

// zeroBytesSort needs an encoding in which the end of a string sorts before a zero byte.
func zeroBytesSort(t *testing.T, engine docstore.Engine) {
	sortStrings(t, engine, []string{"", "\x00", "\x00\x00", "\x00\x01", "\x00a", "\x01", "a", "a\x00", "a\x00b", "a\x01", "ab"})
}

func sortStrings(t *testing.T, engine docstore.Engine, list []string) {
	t.Helper()
	c := openWords(t, engine)
	sorted := slices.Sorted(slices.Values(list))
	shuffled := slices.Clone(sorted)
	slices.Reverse(shuffled)
	for i, s := range shuffled {
		must(t, c.Insert(t.Context(), word{ID: s, Group: int64(i % 2), Text: s}))
	}
	for _, index := range []string{docstore.IDIndex, "by_text"} {
		var got []string
		for _, w := range walk(t, c, docstore.Query{Where: docstore.All(index), Limit: 4}) {
			got = append(got, w.ID)
		}
		wantEqual(t, index, got, sorted)
	}
	for _, s := range sorted {
		found := documentOf(t, c, s)
		wantEqual(t, "id", found.ID, s)
		wantEqual(t, "documents with the text "+s, countOf(t, c, byText().Is(s)), int64(1))
	}
}

func equalFieldsSort(t *testing.T, engine docstore.Engine) {
	c := openWords(t, engine)
	for _, id := range []string{"d", "a", "c", "ab", "", "b"} {
		must(t, c.Insert(t.Context(), word{ID: id, Group: 1, Text: "same"}))
	}
	must(t, c.Insert(t.Context(), word{ID: "0", Group: 1, Text: "sam"}))
	must(t, c.Insert(t.Context(), word{ID: "1", Group: 2, Text: "same"}))
	var got []string
	for _, w := range walk(t, c, docstore.Query{Where: byGroupText().Is(1, "same"), Limit: 2}) {
		got = append(got, w.ID)
	}
	wantEqual(t, "ids", got, []string{"", "a", "ab", "b", "c", "d"})
}

func scanAfter(t *testing.T, engine docstore.Engine) {
	c := openPlaces(t, engine)
	places := somePlaces(1, 20)
	insertAll(t, c, places)
	table := openTable(t, engine, placeSpec())
	for _, o := range placeOrders() {
		all := o.pick(places, nil)
		gone := all[9]
		must(t, c.Delete(t.Context(), gone.ID))
		for _, at := range []int{8, 9, len(all) - 1} {
			raws, more := scanRaw(t, table, docstore.Scan{Where: docstore.All(o.index), After: o.fields(all[at]), Limit: 50})
			want := len(all) - 1 - at
			if at < 9 {
				want--
			}
			wantEqual(t, o.index, len(raws), want)
			wantEqual(t, "more", more, false)
		}
		must(t, c.Insert(t.Context(), gone))
	}
}

func scanSelectedAfter(t *testing.T, engine docstore.Engine) {
	c := openPlaces(t, engine)
	places := somePlaces(1, 12)
	insertAll(t, c, places)
	table := openTable(t, engine, placeSpec())
	for _, o := range placeOrders() {
		for n := range o.fields(place{}) {
			equal := o.fields(places[6])[:n]
			selected := o.pick(places, equal)
			for at, after := range selected {
				got, more := scanPlaces(t, table, docstore.Scan{Where: where(o.index, equal...), After: o.fields(after)[n:], Limit: 20})
				wantEqual(t, o.index, got, selected[at+1:])
				wantEqual(t, "more", more, false)
			}
		}
	}
}

func everyIndexSorts(t *testing.T, engine docstore.Engine) {
	c := openPlaces(t, engine)
	places := somePlaces(-10, 20)
	insertAll(t, c, places)
	for _, o := range placeOrders() {
		for _, sample := range []place{places[0], places[13], somePlace(99)} {
			for n := range len(o.fields(sample)) + 1 {
				equal := o.fields(sample)[:n]
				got := walk(t, c, docstore.Query{Where: where(o.index, equal...), Limit: 4})
				wantEqual(t, o.index, got, o.pick(places, equal))
				wantEqual(t, "count by "+o.index, countOf(t, c, where(o.index, equal...)), int64(len(got)))
			}
		}
	}
}
