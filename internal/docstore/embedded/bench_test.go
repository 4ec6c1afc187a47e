package embedded_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/docstore/embedded"
)

// sizes are the sizes of the stores on which the benchmarks run.
var sizes = flag.String("documents", "1000,200000", "for benchmarks: comma-separated numbers of documents, each a multiple of 1000")

// ballotsPerWriter gives the documents of a page the same writer, like an album's photos.
const ballotsPerWriter = 1000

// benchmarkSizes runs benchmarks on a store of each size.
func benchmarkSizes(b *testing.B, run func(b *testing.B, s *benchStore)) {
	for size := range strings.SplitSeq(*sizes, ",") {
		documents, err := strconv.ParseInt(size, 10, 64)
		if err != nil || documents%ballotsPerWriter != 0 || documents < ballotsPerWriter {
			b.Fatalf("-documents: %q is not a positive multiple of 1000", size)
		}
		b.Run("documents="+size, func(b *testing.B) {
			engine, err := embedded.Open(b.Context(), filepath.Join(b.TempDir(), "store.db"))
			if err != nil {
				b.Fatal(err)
			}
			defer func() {
				if err := engine.Close(); err != nil {
					b.Error(err)
				}
			}()
			c, err := docstore.Open[int64, ballot](b.Context(), engine, ballotSpec())
			if err != nil {
				b.Fatal(err)
			}
			s := &benchStore{ballots: c, documents: documents}
			s.fill(b)
			run(b, s)
		})
	}
}

// benchStore is a store with a known number of documents.
type benchStore struct {
	*ballots
	documents int64
	// last is the last id used.
	last atomic.Int64
}

func (s *benchStore) fill(b *testing.B) {
	s.last.Store(s.documents - 1)
	const batch = 10_000
	for first := int64(0); first < s.documents; first += batch {
		var ballots []ballot
		for id := first; id < min(first+batch, s.documents); id++ {
			ballots = append(ballots, benchBallot(id))
		}
		if err := s.Insert(b.Context(), ballots...); err != nil {
			b.Fatal(err)
		}
	}
}

// insert inserts a document after all others.
func (s *benchStore) insert(ctx context.Context) error {
	return s.Insert(ctx, benchBallot(s.last.Add(1)))
}

func benchBallot(id int64) ballot {
	const prime = 1_000_000_007 // all ids below it get different codes, in scattered order
	return ballot{
		ID: id, Writer: id / ballotsPerWriter, Code: fmt.Sprintf("code-%d", id*7919%prime), Version: id,
		Body: "A quiet lane between the old temple and the river, best in the early morning.",
	}
}

// manyWriters runs write in count concurrent writers.
func manyWriters(b *testing.B, count int, write func() error) {
	b.ReportAllocs()
	b.SetParallelism(count / runtime.GOMAXPROCS(0))
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if err := write(); err != nil {
				b.Error(err)
			}
		}
	})
}

func BenchmarkOperations(b *testing.B) {
	benchmarkSizes(b, func(b *testing.B, s *benchStore) {
		// OfFew reads the same thousand documents whatever the size of the store. In a large
		// store it shows the cost of the deeper tree. The other benchmarks add the cost of
		// memory that is not in the processor's caches.
		for _, among := range []struct {
			name      string
			documents int64
		}{{"", s.documents}, {"OfFew", ballotsPerWriter}} {
			b.Run("PointRead"+among.name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := s.Get(b.Context(), rand.Int64N(among.documents)); err != nil {
						b.Fatal(err)
					}
				}
			})
			b.Run("PageReadOf100"+among.name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					writer := rand.Int64N(among.documents / ballotsPerWriter)
					page, err := s.Page(b.Context(), docstore.Query{Where: byWriterVersion().First(writer), Limit: 100})
					if err != nil || len(page.Documents) != 100 {
						b.Fatalf("got %d documents, %v", len(page.Documents), err)
					}
				}
			})
		}
		update := func(ctx context.Context) error {
			_, err := s.Update(ctx, rand.Int64N(s.documents), func(each *ballot) error {
				each.Version++
				return nil
			})
			return err
		}
		for _, writers := range []int{1, 64} {
			b.Run(fmt.Sprintf("UpdateBy%d", writers), func(b *testing.B) {
				manyWriters(b, writers, func() error { return update(b.Context()) })
			})
			b.Run(fmt.Sprintf("InsertBy%d", writers), func(b *testing.B) {
				manyWriters(b, writers, func() error { return s.insert(b.Context()) })
			})
		}
	})
}

// BenchmarkWalk reads a whole store in batches, like a long list.
func BenchmarkWalk(b *testing.B) {
	benchmarkSizes(b, func(b *testing.B, s *benchStore) {
		b.Run("ByID", func(b *testing.B) { s.walk(b, docstore.IDIndex) })
		b.Run("ByIndex", func(b *testing.B) { s.walk(b, "by_writer_version") })
	})
}

func (s *benchStore) walk(b *testing.B, index string) {
	const batch = 200
	b.ReportAllocs()
	for b.Loop() {
		seen := int64(0)
		for ballots, err := range s.Batches(b.Context(), docstore.Query{Where: docstore.All(index), Limit: batch}) {
			if err != nil {
				b.Fatal(err)
			}
			seen += int64(len(ballots))
		}
		if seen < s.documents {
			b.Fatalf("got %d documents, want %d or more", seen, s.documents)
		}
	}
	b.ReportMetric(float64(s.documents)*float64(b.N)/b.Elapsed().Seconds(), "items/s")
}
