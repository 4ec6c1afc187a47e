package conformance

import (
	"encoding/base64"
	"math"
	"slices"
	"testing"

	"github.com/waybook/waybook/internal/docstore"
)

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
			if last := page.Documents[len(page.Documents)-1].ID; last%2 == 0 && len(stay) == 20 { // the token is that of a document that is gone
				must(t, c.Delete(t.Context(), last))
				stay = slices.DeleteFunc(stay, func(p place) bool { return p.ID == last })
				seen = slices.DeleteFunc(seen, func(p place) bool { return p.ID == last })
			}
		}
		isFleeting := func(p place) bool { return p.ID%2 != 0 }
		wantEqual(t, o.index, slices.DeleteFunc(seen, isFleeting), o.pick(stay, nil))
	}
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
	between := func(from, to int64) docstore.Span { return docstore.Between(from, to) }
	from := docstore.Span{From: number(0)}
	ranged := firstPage(t, c, docstore.Query{Where: byOwner().In(between(0, 2)), Limit: 1}).Next
	down := firstPage(t, c, docstore.Query{Where: byOwner().All(), Limit: 2, Descending: true}).Next
	up := firstPage(t, c, docstore.Query{Where: byOwner().All(), Limit: 2}).Next
	for _, query := range []docstore.Query{
		{Where: byOwnerTitle().First(2), Token: page.Next}, {Where: byTitle().All(), Token: page.Next},
		{Where: byOwner().All(), Token: down}, {Where: byOwner().All(), Token: up, Descending: true}, {Where: byOwner().All(), Token: ranged},
		{Where: byOwner().In(from), Token: ranged}, {Where: byOwner().In(docstore.UpTo[int64](2)), Token: ranged},
		{Where: byOwner().In(between(1, 2)), Token: ranged}, {Where: byOwner().In(between(2, 0)), Token: ranged},
		{Where: byOwner().In(between(0, 2), between(0, 2)), Token: ranged},
		{Where: byOwner().In(docstore.UpTo[int64](0), docstore.UpTo[int64](2)), Token: ranged},
		{Where: byOwner().In(from, docstore.UpTo[int64](2)), Token: ranged},
	} {
		query.Limit = 1
		_, err := c.Page(t.Context(), query)
		wantError(t, err, docstore.ErrBadToken)
	}
}

func batches(t *testing.T, engine docstore.Engine) {
	places := somePlaces(1, 10)
	c := placesWith(t, engine, places...)
	for count, want := range map[int][]int{
		1: {1}, 3: {3}, 4: {4}, 5: {4, 1}, 8: {4, 4}, 9: {4, 4, 1}, 10: {4, 4, 2}, 11: {4, 4, 2}, math.MaxInt: {4, 4, 2}, 0: {4, 4, 2},
	} {
		var sizes []int
		var got []place
		for batch, err := range c.Batches(t.Context(), docstore.Query{Where: docstore.All(docstore.IDIndex), Limit: 4, Most: count}) {
			must(t, err)
			sizes, got = append(sizes, len(batch)), append(got, batch...)
		}
		wantEqual(t, "batches", sizes, want)
		wantEqual(t, "documents", got, places[:len(got)])
	}
	for _, err := range c.Batches(t.Context(), docstore.Query{Where: byTitle().All(), Limit: 4}) {
		must(t, err)
		break
	}
	for _, err := range c.Batches(t.Context(), docstore.Query{Where: byOwner().Is(9), Limit: 4}) {
		t.Fatalf("got a batch without a match: %v", err)
	}
	for _, query := range []docstore.Query{{Limit: 4, Most: -1}, {Limit: 4, Token: "x"}} {
		query.Where = docstore.All(docstore.IDIndex)
		rounds := 0
		for batch, err := range c.Batches(t.Context(), query) {
			if rounds++; err == nil || len(batch) > 0 {
				t.Fatalf("got %d documents, %v", len(batch), err)
			}
		}
		wantEqual(t, "rounds", rounds, 1)
	}
}

func integersSort(t *testing.T, engine docstore.Engine) {
	c := openPlaces(t, engine)
	sorted := []int64{math.MinInt64, -1 << 53, -256, -255, -1, 0, 1, 255, 256, 1<<31 - 1, 1 << 31, 1 << 53, math.MaxInt64}
	for _, n := range shuffled(sorted) {
		p := somePlace(n)
		p.Owner = n
		must(t, c.Insert(t.Context(), p))
	}
	for i, from := range sorted {
		for j := i; j < len(sorted); j++ {
			span := docstore.Between(from, sorted[j])
			for _, selection := range []docstore.Where{docstore.All(docstore.IDIndex).Within(span), byOwner().In(span), byOwnerSlot().All().Within(span)} {
				var got []int64
				for _, p := range walk(t, c, docstore.Query{Where: selection, Limit: 3}) {
					got = append(got, p.ID)
				}
				wantEqual(t, selection.Index(), got, sorted[i:j+1])
			}
		}
	}
}

// shuffled returns a list in another order.
func shuffled[T any](sorted []T) []T {
	list := turned(sorted, true)
	list[0], list[5] = list[5], list[0]
	return list
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
	for _, s := range shuffled(sorted) {
		must(t, c.Insert(t.Context(), word{ID: s, Group: 1, Text: s}))
	}
	for i, from := range sorted {
		wantEqual(t, "id", documentOf(t, c, from).ID, from)
		for _, to := range sorted[i:] {
			between := docstore.Between(from, to)
			for _, selection := range []docstore.Where{docstore.All(docstore.IDIndex).Within(between), byText().In(between), byGroupText().In(1, between)} {
				var got []string
				for _, w := range walk(t, c, docstore.Query{Where: selection, Limit: 9}) {
					got = append(got, w.ID)
				}
				wantEqual(t, selection.Index(), got, sorted[i:slices.Index(sorted, to)+1])
			}
		}
	}
}
