package conformance

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
		{"Batches stops after the given number of documents", boundedBatches},
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
	for count, want := range map[int][]int{
		1: {1}, 3: {3}, 4: {4}, 5: {4, 1}, 8: {4, 4}, 9: {4, 4, 1}, 10: {4, 4, 2}, 11: {4, 4, 2}, math.MaxInt: {4, 4, 2}, 0: {4, 4, 2},
	} {
		var sizes []int
		var got []place
		for batch, err := range c.Batches(t.Context(), docstore.Query{Where: docstore.All(docstore.IDIndex), Limit: 4, Most: count}) {
			must(t, err)
			sizes = append(sizes, len(batch))
			got = append(got, batch...)
		}
		wantEqual(t, "batches", sizes, want)
		wantEqual(t, "documents", got, places[:len(got)])
	}
	for _, err := range c.Batches(t.Context(), docstore.Query{Where: docstore.All(docstore.IDIndex), Limit: 4, Most: -1}) {
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
