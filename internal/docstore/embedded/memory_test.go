package embedded_test

import (
	"errors"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/waybook/waybook/internal/docstore"
)

// The bound is generous: a page of three documents of 300 kB is copied once and decoded
// once. A scan that copies all 100 documents allocates 30 MB.
func TestAPageOfLargeDocumentsAllocatesAboutWhatItReturns(t *testing.T) {
	c := fill(t, openAt(t, filepath.Join(t.TempDir(), "store.db")), 0)
	for id := range int64(100) {
		large := ballotOf(id, 1)
		large.Body = strings.Repeat("x", 300_000)
		must(t, c.Insert(t.Context(), large))
	}
	for name, where := range map[string]docstore.Where{"by id": docstore.All(docstore.IDIndex).Everywhere(), "by an index": byCode().All()} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		page, err := c.Page(t.Context(), docstore.Query{Where: where, Limit: 100, MaxBytes: 1_000_000})
		runtime.ReadMemStats(&after)
		if err != nil || len(page.Documents) != 3 || page.Next == "" {
			t.Fatalf("got %d documents, next page token %q, %v", len(page.Documents), page.Next, err)
		}
		if allocated := after.TotalAlloc - before.TotalAlloc; allocated > 3_000_000 {
			t.Errorf("%s: a page of 900 kB allocated %d kB", name, allocated/1000)
		}
	}
}

// A call with more documents than a commit takes is split. What is refused keeps its position.
func TestManyDocumentsInOneCallAreStoredInSeveralCommits(t *testing.T) {
	t.Parallel()
	engine := openAt(t, filepath.Join(t.TempDir(), "store.db"))
	c := fill(t, engine, 0)
	const count = 12_001
	many := make([]ballot, count)
	for n := range many {
		many[n] = ballotOf(int64(n+1), 1)
		many[n].Body = ""
	}
	many[7000] = many[3] // of another commit
	before := engine.Commits()
	refused, isRefused := errors.AsType[*docstore.RefusedError](c.Insert(t.Context(), many...))
	if !isRefused {
		t.Fatal("no document was refused")
	}
	for n, refusal := range refused.Errs {
		if isTaken := n == 7000; (refusal != nil) != isTaken {
			t.Errorf("document %d: %v", n, refusal)
		}
	}
	if stored, err := c.Count(t.Context(), docstore.All(docstore.IDIndex).Everywhere()); err != nil || stored != count-1 {
		t.Errorf("%d are stored, %v", stored, err)
	}
	if commits := engine.Commits() - before; commits < 2 || commits > 20 {
		t.Errorf("%d commits", commits)
	}
}
