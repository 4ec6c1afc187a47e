package conformance

import (
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/waybook/waybook/internal/docstore"
)

func budgetCases() []testCase {
	return []testCase{
		{"a scan tells exactly whether more documents follow", tellsMore},
		{"a scan ends before the document that exceeds the budget, but returns the first", endsAtBudget},
		{"a walk with a budget returns each document once, in both directions", walksWithBudget},
		{"a page ends before it exceeds MaxPageBytes, and a walk returns each document once", pageBytes},
		{"a scan returns at least the fields that the caller reads", scansFields},
		{"a page of documents with given ids is in the order of the ids, and each exists once", pagesOfIDs},
		{"a projection reads its fields and pages as the collection does", projects},
		{"a projection to the fields of an index reads them at any page size, in both directions", projectsIndex},
		{"a scan with a budget keeps about as much memory as it returns", scanMemory},
		{"a document that is kept does not keep its neighbours alive", keptAlone},
	}
}

func tellsMore(t *testing.T, engine docstore.Engine) {
	placesWith(t, engine, somePlaces(1, 7)...)
	table := openTable(t, engine, placeSpec())
	for _, o := range placeOrders() {
		for n := range o.fields(place{}) {
			equal := o.fields(somePlace(4))[:n]
			want := o.pick(somePlaces(1, 7), equal)
			for limit := 1; limit <= len(want)+2; limit++ {
				got, more := scanPlaces(t, table, docstore.Scan{Where: where(o.index, equal...), Limit: limit})
				wantEqual(t, o.index, got, want[:min(limit, len(want))])
				wantEqual(t, "more", more, len(want) > limit)
			}
		}
	}
	for _, selection := range []docstore.Where{byOwner().Is(99), byCode().Is("code 1"), where(docstore.IDIndex, number(3))} {
		_, more := scanPlaces(t, table, docstore.Scan{Where: selection, Limit: 1})
		wantEqual(t, "more of "+selection.Index(), more, false)
	}
}

// sizedPlaces returns places whose stored documents have the given sizes in bytes.
func sizedPlaces(t *testing.T, sizes ...int) []place {
	t.Helper()
	var sized []place
	for i, size := range sizes {
		p := somePlace(int64(i))
		p.Note = ""
		p.Note = strings.Repeat("n", size-len(stored(t, p, 1)))
		sized = append(sized, p)
	}
	return sized
}

func endsAtBudget(t *testing.T, engine docstore.Engine) {
	c := openPlaces(t, engine)
	insertAll(t, c, sizedPlaces(t, 500, 300, 200, 1000, 200, 200))
	table := openTable(t, engine, placeSpec())
	for _, step := range []struct {
		from             int64
		limit, budget    int
		wantCount        int
		wantMore, isLast bool
	}{
		{from: 0, limit: 9, budget: 1, wantCount: 1, wantMore: true},
		{from: 0, limit: 9, budget: 500, wantCount: 1, wantMore: true},
		{from: 0, limit: 9, budget: 799, wantCount: 1, wantMore: true},
		{from: 0, limit: 9, budget: 800, wantCount: 2, wantMore: true},
		{from: 0, limit: 9, budget: 1000, wantCount: 3, wantMore: true},
		{from: 0, limit: 2, budget: 1000, wantCount: 2, wantMore: true},
		{from: 0, limit: 9, budget: 2399, wantCount: 5, wantMore: true},
		{from: 0, limit: 9, budget: 2400, wantCount: 6},
		{from: 0, limit: 6, budget: 2400, wantCount: 6},
		{from: 0, limit: 9, budget: 0, wantCount: 6},
		{from: 2, limit: 9, budget: 1100, wantCount: 1, wantMore: true},
		{from: 3, limit: 9, budget: 100, wantCount: 1, wantMore: true},
		{from: 4, limit: 9, budget: 400, wantCount: 2},
		{from: 5, limit: 9, budget: 1, wantCount: 1},
	} {
		got, more := scanPlaces(t, table, docstore.Scan{
			Where: docstore.All(docstore.IDIndex).FromID(step.from), Limit: step.limit, MaxBytes: step.budget,
		})
		if len(got) != step.wantCount || more != step.wantMore || got[0].ID != step.from {
			t.Errorf("%+v: got %d documents, more: %v", step, len(got), more)
		}
	}
}

// walksWithBudget has documents of very different sizes, so that an engine that guesses how
// many fit guesses wrong in both directions.
func walksWithBudget(t *testing.T, engine docstore.Engine) {
	c := openPlaces(t, engine)
	sizes := []int{200, 200, 200, 9000, 200, 200, 50_000, 50_000, 200, 3000, 200, 200, 200, 200, 200, 50_000, 200, 200}
	places := sizedPlaces(t, sizes...)
	insertAll(t, c, places)
	table := openTable(t, engine, placeSpec())
	for _, o := range placeOrders() {
		for _, budget := range []int{1, 400, 10_000, 100_000} {
			for _, isDescending := range directions {
				got := []place{}
				scan := docstore.Scan{Where: docstore.All(o.index), Limit: 5, MaxBytes: budget, Descending: isDescending}
				for more := true; more; {
					var found []place
					found, more = scanPlaces(t, table, scan)
					size := 0
					for _, p := range found {
						size += sizes[p.ID]
					}
					if len(found) == 0 || len(found) > 5 || len(found) > 1 && size > budget {
						t.Fatalf("got %d documents of %d bytes with a budget of %d", len(found), size, budget)
					}
					got = append(got, found...)
					scan.After = o.fields(found[len(found)-1])
				}
				wantEqual(t, o.index, got, turned(o.pick(places, nil), isDescending))
			}
		}
	}
}

func pageBytes(t *testing.T, engine docstore.Engine) {
	c := openPlaces(t, engine)
	sizes := slices.Repeat([]int{docstore.MaxPageBytes * 2 / 7}, 8)
	sizes[5] = docstore.MaxPageBytes + 1
	places := sizedPlaces(t, sizes...)
	insertAll(t, c, places)
	var counts []int
	query := docstore.Query{Where: docstore.All(docstore.IDIndex), Limit: 100}
	for {
		page := firstPage(t, c, query)
		counts = append(counts, len(page.Documents))
		if query.Token = page.Next; query.Token == "" {
			break
		}
	}
	wantEqual(t, "documents per page", counts, []int{3, 2, 1, 2})
	if got := walk(t, c, docstore.Query{Where: byOwnerTitle().All(), Limit: 100}); !slices.Equal(got, placeOrders()[3].pick(places, nil)) {
		t.Error("a walk by another index returned other documents")
	}
}

func scansFields(t *testing.T, engine docstore.Engine) {
	placesWith(t, engine, somePlaces(1, 5)...)
	table := openTable(t, engine, placeSpec())
	for _, o := range placeOrders() {
		want := o.pick(somePlaces(1, 5), nil)
		scan := docstore.Scan{Where: docstore.All(o.index), Limit: 2, Fields: []string{"note", "nowhere"}}
		got, more := scanPlaces(t, table, scan)
		wantEqual(t, "more", more, true)
		for i, p := range got {
			if p.Note != want[i].Note || p.ID != want[i].ID {
				t.Errorf("%s: got %+v, want %+v", o.index, p, want[i])
			}
		}
	}
}

func projects(t *testing.T, engine docstore.Engine) {
	type note struct {
		Note string `bson:"note"`
	}
	c := openPlaces(t, engine)
	places := somePlaces(1, 12)
	insertAll(t, c, places)
	projection := docstore.Project[note](c)
	for _, o := range placeOrders() {
		var got, want []string
		for batch, err := range projection.Batches(t.Context(), docstore.Query{Where: docstore.All(o.index), Limit: 5}) {
			must(t, err)
			for _, each := range batch {
				got = append(got, each.Note)
			}
		}
		for _, p := range o.pick(places, nil) {
			want = append(want, p.Note)
		}
		wantEqual(t, o.index, got, want)
	}
}

func projectsIndex(t *testing.T, engine docstore.Engine) {
	type slot struct {
		ID    int64 `bson:"_id"`
		Owner int64 `bson:"owner"`
		Slot  int64 `bson:"slot"`
	}
	type owned struct {
		ID    int64 `bson:"_id"`
		Owner int64 `bson:"owner"`
	}
	c := openPlaces(t, engine)
	places := slices.Concat(somePlaces(-3, 12), []place{{ID: math.MinInt64, Owner: math.MinInt64, Slot: math.MaxInt64, Code: "z"}})
	insertAll(t, c, places)
	slots, owneds := docstore.Project[slot](c), docstore.Project[owned](c)
	for limit := 1; limit <= len(places)+1; limit++ {
		for _, selection := range []docstore.Where{byOwnerSlot().All(), byOwnerSlot().First(1), byOwnerSlot().In(1, docstore.Span{From: docstore.ValueOf(int64(2))})} {
			query := docstore.Query{Where: selection, Limit: limit}
			want := []slot{}
			for _, p := range walk(t, c, query) {
				want = append(want, slot{p.ID, p.Owner, p.Slot})
			}
			wantEqual(t, "slots", walk(t, slots, query), want)
		}
		for _, isDescending := range directions {
			query := docstore.Query{Where: byOwner().All(), Limit: limit, Descending: isDescending}
			want := []owned{}
			for _, p := range walk(t, c, query) {
				want = append(want, owned{p.ID, p.Owner})
			}
			wantEqual(t, "owners", walk(t, owneds, query), want)
		}
	}
}

// insertLarge inserts 100 documents of 300 kB, which are 30 MB together.
func insertLarge(t *testing.T, c *places) {
	t.Helper()
	for _, p := range sizedPlaces(t, slices.Repeat([]int{300_000}, 100)...) {
		must(t, c.Insert(t.Context(), p))
	}
}

func pagesOfIDs(t *testing.T, engine docstore.Engine) {
	c := openPlaces(t, engine)
	large := docstore.MaxBatchBytes/2 - 1000
	places := sizedPlaces(t, 200, large, 200, docstore.MaxBatchBytes+1, large, large, 200)
	insertAll(t, c, places)
	query := docstore.Query{
		Where: docstore.WithIDs(docstore.ValuesOf([]int64{6, 99, 5, 0, 4, -7, 3, 2, 1, 0, 6, 50})...), Limit: 12,
		MaxBytes: docstore.MaxBatchBytes, As: docstore.Listed,
	}
	for _, want := range [][]int64{{0, 1, 2}, {3}, {4, 5, 6}} {
		page, err := c.Page(t.Context(), query)
		must(t, err)
		var got []int64
		for _, p := range page.Documents {
			got = append(got, p.ID)
			wantEqual(t, "document", p, places[p.ID])
		}
		wantEqual(t, "ids", got, want)
		query.Token = page.Next
	}
	wantEqual(t, "the token behind all", query.Token, "")
	none := firstPage(t, c, docstore.Query{Where: docstore.WithIDs(number(99), number(-7)), Limit: 2})
	wantEqual(t, "documents that do not exist", len(none.Documents), 0)
}

func scanMemory(t *testing.T, engine docstore.Engine) {
	c := openPlaces(t, engine)
	insertLarge(t, c)
	table := openTable(t, engine, placeSpec())
	scan := docstore.Scan{Where: byOwnerTitle().All(), Limit: 100, MaxBytes: 1_000_000}
	var raws []bson.Raw
	read := func() {
		var more bool
		raws, more = scanRaw(t, table, scan)
		if len(raws) != 3 || !more {
			t.Fatalf("got %d documents, more: %v", len(raws), more)
		}
	}
	read() // an engine may learn the size of the documents
	if kept := keptBytes(func() { raws = nil }, read); kept > 2_000_000 {
		t.Errorf("a scan that returns %d kB keeps %d kB", size(raws)/1000, kept/1000)
	}
	runtime.KeepAlive(raws)
}

func keptAlone(t *testing.T, engine docstore.Engine) {
	c := openPlaces(t, engine)
	insertLarge(t, c)
	table := openTable(t, engine, placeSpec())
	var one bson.Raw
	for name, read := range map[string]func() []bson.Raw{
		"Scan": func() []bson.Raw {
			raws, _ := scanRaw(t, table, docstore.Scan{Where: byOwner().Is(1), Limit: 10})
			return raws
		},
		"GetMany": func() []bson.Raw {
			ids := docstore.WithIDs(number(1), number(2), number(3), number(4), number(5), number(6), number(7))
			raws, _ := scanRaw(t, table, docstore.Scan{Where: ids, Limit: 7})
			return raws
		},
	} {
		kept := keptBytes(func() { one = nil }, func() {
			raws := read()
			if len(raws) < 7 {
				t.Fatalf("%s returned %d documents", name, len(raws))
			}
			one = raws[3]
		})
		if kept > 1_000_000 {
			t.Errorf("a document of %s with %d kB keeps %d kB", name, len(one)/1000, kept/1000)
		}
		runtime.KeepAlive(one)
	}
}

func size(raws []bson.Raw) (total int) {
	for _, raw := range raws {
		total += len(raw)
	}
	return total
}

// keptBytes returns by how much the heap has grown after do and a garbage collection. forget
// lets go of what do keeps. A server of the tests may run in this process and keep memory of
// its own, so the least of several measurements counts.
func keptBytes(forget, do func()) int64 {
	least := int64(math.MaxInt64)
	for range 5 {
		forget()
		before := heapBytes()
		do()
		least = min(least, heapBytes()-before)
	}
	return least
}

func heapBytes() int64 {
	runtime.GC()
	runtime.GC() // the second one frees what pools have kept during the first
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	return int64(memory.HeapAlloc) // #nosec G115 -- below the size of the memory
}
