package embedded_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/docstore/embedded"
)

// ballotsPerWriter puts the documents of a page together, as an album's photos are.
const ballotsPerWriter = 1000

func benchmarkSizes(b *testing.B, run func(b *testing.B, c *docstore.Collection[ballot], documents int64)) {
	for _, documents := range []int64{1000, 200_000} {
		b.Run(fmt.Sprintf("documents=%d", documents), func(b *testing.B) {
			engine, err := embedded.Open(filepath.Join(b.TempDir(), "store.db"))
			if err != nil {
				b.Fatal(err)
			}
			defer func() {
				if err := engine.Close(); err != nil {
					b.Error(err)
				}
			}()
			c, err := docstore.Open[ballot](b.Context(), engine, ballotSpec())
			if err != nil {
				b.Fatal(err)
			}
			var batch []ballot
			for id := range documents {
				if batch = append(batch, benchBallot(id)); len(batch) == 1000 {
					if _, err := c.InsertMany(b.Context(), batch); err != nil {
						b.Fatal(err)
					}
					batch = batch[:0]
				}
			}
			b.Run("", func(b *testing.B) { run(b, c, documents) })
		})
	}
}

func benchBallot(id int64) ballot {
	return ballot{
		ID: id, Writer: id / ballotsPerWriter, Code: fmt.Sprintf("code-%d", id*7919%1_000_003), Version: id,
		Body: "A quiet lane between the old temple and the river, best in the early morning.",
	}
}

func BenchmarkPointRead(b *testing.B) {
	benchmarkSizes(b, func(b *testing.B, c *docstore.Collection[ballot], documents int64) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := c.Get(b.Context(), rand.Int64N(documents)); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkPageReadOf100(b *testing.B) {
	benchmarkSizes(b, func(b *testing.B, c *docstore.Collection[ballot], documents int64) {
		b.ReportAllocs()
		for b.Loop() {
			writer := rand.Int64N(documents / ballotsPerWriter)
			page, err := c.Page(b.Context(), docstore.Query{Index: "by_writer_version", Equal: []any{writer}, Limit: 100})
			if err != nil || len(page.Documents) != 100 {
				b.Fatalf("%d documents, %v", len(page.Documents), err)
			}
		}
	})
}

func BenchmarkInsertWith1Writer(b *testing.B) {
	var last atomic.Int64
	benchmarkSizes(b, func(b *testing.B, c *docstore.Collection[ballot], documents int64) {
		last.CompareAndSwap(last.Load(), max(last.Load(), documents))
		b.ReportAllocs()
		for b.Loop() {
			if err := c.Insert(b.Context(), benchBallot(last.Add(1))); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkInsertWith64Writers(b *testing.B) {
	var last atomic.Int64
	benchmarkSizes(b, func(b *testing.B, c *docstore.Collection[ballot], documents int64) {
		last.CompareAndSwap(last.Load(), max(last.Load(), documents))
		b.ReportAllocs()
		b.SetParallelism(64 / runtime.GOMAXPROCS(0))
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				if err := c.Insert(b.Context(), benchBallot(last.Add(1))); err != nil {
					b.Error(err)
				}
			}
		})
	})
}
