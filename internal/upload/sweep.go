package upload

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/waybook/waybook/internal/blob"
	"github.com/waybook/waybook/internal/docstore"
)

const (
	// sweepEvery is the interval between two sweeps of files. The first one is firstSweep after a
	// start, so that a process that restarts often sweeps too.
	sweepEvery, firstSweep = 24 * time.Hour, time.Hour
	// sweptAge is the age at which a file that nothing names is deleted. It is far longer than an
	// upload takes, and than a failover that undoes the document that names the file, or the
	// removal of that.
	sweptAge = 24 * time.Hour
)

// Sweep deletes files that no document names. It may be used concurrently. Each process that has
// it sweeps once a day; two at the same time only do the same work.
type Sweep struct {
	Store blob.Store
	// Backups are those of the documents that name files. A backup has the documents first, so
	// that the files of those that are deleted meanwhile must stay.
	Backups *blob.Backups
	Now     func() time.Time
	// Named returns the files that documents name, in any order, as no failover undoes it.
	Named func(context.Context) iter.Seq2[[]int64, error]

	mu  sync.Mutex
	due time.Time
}

// namedPage is how many documents a sweep reads at once.
const namedPage = 1000

// NamedBy returns the files that documents name; file returns 0 for a document that names none.
func NamedBy[T any](
	documents *docstore.Reader[int64, T], file func(T) int64,
) func(context.Context) iter.Seq2[[]int64, error] {
	everything := docstore.Query{
		Where: docstore.All(docstore.IDIndex).Everywhere(), As: docstore.Durable,
		Limit: namedPage, MaxBytes: docstore.MaxBatchBytes,
	}
	return func(ctx context.Context) iter.Seq2[[]int64, error] {
		return func(yield func([]int64, error) bool) {
			for page, err := range documents.Batches(ctx, everything) {
				files := make([]int64, 0, len(page))
				for _, document := range page {
					if named := file(document); named != 0 {
						files = append(files, named)
					}
				}
				if !yield(files, err) {
					return
				}
			}
		}
	}
}

// Do sweeps if that is due.
func (s *Sweep) Do(ctx context.Context) error {
	if !s.begin() {
		return nil
	}
	backups, isRunning := s.Backups.Begun()
	if isRunning {
		return nil
	}
	var named []int64
	for some, err := range s.Named(ctx) {
		if err != nil {
			return err
		}
		named = append(named, some...)
	}
	if now, _ := s.Backups.Begun(); now != backups {
		return nil
	}
	// Of a backup that begins from here on, no document names any other file of this age.
	slices.Sort(named)
	if _, err := blob.Sweep(ctx, s.Store, sweptAge, func(key blob.Key) bool {
		_, isNamed := slices.BinarySearch(named, key.File)
		return isNamed
	}); err != nil {
		return fmt.Errorf("sweep files: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.due = s.Now().Add(sweepEvery)
	return nil
}

// begin reports whether a sweep is due. The next one is later, also if this one fails.
func (s *Sweep) begin() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.Now()
	isDue := !s.due.IsZero() && !now.Before(s.due)
	if isDue || s.due.IsZero() {
		s.due = now.Add(firstSweep)
	}
	return isDue
}
