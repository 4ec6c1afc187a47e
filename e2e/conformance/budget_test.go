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

func keptAlone(t *testing.T, engine docstore.Engine) {
	c, table := openPlaces(t, engine), openTable(t, engine, placeSpec())
	for _, p := range sizedPlaces(t, slices.Repeat([]int{300_000}, 100)...) {
		must(t, c.Insert(t.Context(), p))
	}
	var one bson.Raw
	for _, where := range []docstore.Where{byOwner().Is(1), docstore.WithIDs(docstore.ValuesOf([]int64{1, 2, 3, 4, 5, 6, 7})...)} {
		kept := keptBytes(func() { one = nil }, func() {
			raws, _ := scanRaw(t, table, docstore.Scan{Where: where, Limit: 10})
			one = raws[3]
		})
		if kept > 1_000_000 {
			t.Errorf("a document with %d kB, by %s, keeps %d kB", len(one)/1000, where.Index(), kept/1000)
		}
		runtime.KeepAlive(one)
	}
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
