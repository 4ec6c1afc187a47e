package docstoretest

import (
	"slices"
	"sync"
	"testing"

	"github.com/waybook/waybook/internal/docstore"
)

func advanceCases() []testCase {
	return []testCase{
		{"Advance adds to a field and returns what it and another were", advances},
		{"concurrent calls of Advance have ranges of their own", advancesTogether},
	}
}

// counting is a document with integers that may be missing.
type counting struct {
	ID   int64 `bson:"_id"`
	Last int64 `bson:"last,omitempty"`
	Seen int64 `bson:"seen,omitempty"`
}

func openCountings(t *testing.T, engine docstore.Engine) *docstore.Collection[int64, counting] {
	t.Helper()
	return openAs[counting](t, engine, docstore.Spec{Name: "countings", ID: docstore.Int64})
}

func advanced(t *testing.T, c *docstore.Collection[int64, counting], id, by int64) (before, seen int64, err error) {
	t.Helper()
	return c.Advance(t.Context(), id, docstore.Amount{Field: "last", By: by}, "seen")
}

func advances(t *testing.T, engine docstore.Engine) {
	c := openCountings(t, engine)
	must(t, c.Insert(t.Context(), counting{ID: 1}))
	for _, step := range []struct{ by, seen, before int64 }{{5, 0, 0}, {0, 9, 5}, {64, 9, 5}, {1, 7, 69}} {
		updated(t, c, 1, func(stored *counting) { stored.Seen = step.seen })
		before, seen, err := advanced(t, c, 1, step.by)
		must(t, err)
		wantEqual(t, "before", []int64{before, seen}, []int64{step.before, step.seen})
	}
	wantEqual(t, "document", documentOf(t, c, 1), counting{ID: 1, Last: 70, Seen: 7})
	_, _, err := advanced(t, c, 2, 1)
	wantError(t, err, docstore.ErrNotFound)
}

func advancesTogether(t *testing.T, engine docstore.Engine) {
	const writers = 12
	c := openCountings(t, engine)
	must(t, c.Insert(t.Context(), counting{ID: 1}))
	var mu sync.Mutex
	var starts []int64
	at(writers, func(int) {
		before, _, err := advanced(t, c, 1, 3)
		if err != nil {
			t.Error(err)
		}
		mu.Lock()
		defer mu.Unlock()
		starts = append(starts, before)
	})
	slices.Sort(starts)
	for i, start := range starts {
		wantEqual(t, "start", start, int64(3*i))
	}
}
