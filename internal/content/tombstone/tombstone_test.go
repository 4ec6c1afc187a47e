package tombstone_test

import (
	"context"
	"errors"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/waybook/waybook/internal/content/tombstone"
	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/docstore/embedded"
)

var errCrash = errors.New("crash")

// shelf is a set of parents with children, and the tombstones of the deleted parents.
type shelf struct {
	tombstones *tombstone.Records
	now        time.Time

	mu       sync.Mutex
	parents  map[int64]bool
	children map[int64]int
	purged   int
}

func newShelf(t *testing.T, parents ...int64) *shelf {
	t.Helper()
	engine, err := embedded.Open(filepath.Join(t.TempDir(), "store.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := engine.Close(); err != nil {
			t.Error(err)
		}
	})
	s := &shelf{
		now:     time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC),
		parents: map[int64]bool{}, children: map[int64]int{},
	}
	for _, id := range parents {
		s.parents[id], s.children[id] = true, 3
	}
	s.tombstones, err = tombstone.Open(t.Context(), engine, "some_trash", func() time.Time { return s.now })
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *shelf) remove(_ context.Context, id int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.parents[id] {
		return docstore.ErrNotFound
	}
	delete(s.parents, id)
	return nil
}

func (s *shelf) exists(_ context.Context, id int64) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.parents[id], nil
}

func (s *shelf) purge(_ context.Context, id int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.children, id)
	s.purged++
	return nil
}

func (s *shelf) sweep(t *testing.T) {
	t.Helper()
	if err := s.tombstones.Sweep(t.Context(), s.exists, s.purge); err != nil {
		t.Fatal(err)
	}
}

func TestChildrenOfADeletedParentGoWithTheNextSweep(t *testing.T) {
	s := newShelf(t, 1, 2)
	if err := s.tombstones.Delete(t.Context(), 1, s.remove); err != nil {
		t.Fatal(err)
	}
	s.sweep(t)
	if s.children[1] != 0 || s.children[2] != 3 {
		t.Errorf("children %v", s.children)
	}
}

func TestAChildAddedByACallThatBeganBeforeTheDeletionIsSweptToo(t *testing.T) {
	s := newShelf(t, 1)
	if err := s.tombstones.Delete(t.Context(), 1, s.remove); err != nil {
		t.Fatal(err)
	}
	s.sweep(t)
	s.children[1] = 1
	s.now = s.now.Add(time.Minute)
	s.sweep(t)
	if s.children[1] != 0 {
		t.Errorf("children %v", s.children)
	}
}

func TestARecordIsDeletedOnceNoCallCanBeOlder(t *testing.T) {
	s := newShelf(t, 1)
	if err := s.tombstones.Delete(t.Context(), 1, s.remove); err != nil {
		t.Fatal(err)
	}
	s.now = s.now.Add(time.Hour)
	s.sweep(t)
	s.sweep(t)
	if s.purged != 1 {
		t.Errorf("purged %d times, want once", s.purged)
	}
}

func TestADeletionThatCrashesBeforeItRemovesTheParentChangesNothing(t *testing.T) {
	s := newShelf(t, 1)
	crash := func(context.Context, int64) error { return errCrash }
	if err := s.tombstones.Delete(t.Context(), 1, crash); !errors.Is(err, errCrash) {
		t.Fatalf("got %v", err)
	}
	s.sweep(t)
	if !s.parents[1] || s.children[1] != 3 {
		t.Errorf("parents %v, children %v", s.parents, s.children)
	}
}

func TestADeletionRetriedAfterACrashIsFinished(t *testing.T) {
	s := newShelf(t, 1)
	if err := s.tombstones.Delete(t.Context(), 1, func(context.Context, int64) error { return errCrash }); err == nil {
		t.Fatal("the first attempt should fail")
	}
	s.now = s.now.Add(time.Hour)
	// A sweep reads the record during the second attempt, before the parent is removed.
	err := s.tombstones.Delete(t.Context(), 1, func(ctx context.Context, id int64) error {
		s.sweep(t)
		return s.remove(ctx, id)
	})
	if err != nil {
		t.Fatal(err)
	}
	s.sweep(t)
	if s.children[1] != 0 {
		t.Errorf("children %v", s.children)
	}
}

func TestASweepOfAnOldFailedDeletionKeepsItsRecord(t *testing.T) {
	s := newShelf(t, 1)
	if err := s.tombstones.Delete(t.Context(), 1, func(context.Context, int64) error { return errCrash }); err == nil {
		t.Fatal("the first attempt should fail")
	}
	s.now = s.now.Add(time.Hour)
	s.sweep(t)
	// A second attempt passed its record just before that sweep, and ends now.
	delete(s.parents, 1)
	s.sweep(t)
	if s.children[1] != 0 {
		t.Errorf("children %v", s.children)
	}
}

func TestACrashedSweepIsRetried(t *testing.T) {
	s := newShelf(t, 1)
	if err := s.tombstones.Delete(t.Context(), 1, s.remove); err != nil {
		t.Fatal(err)
	}
	s.now = s.now.Add(time.Hour)
	err := s.tombstones.Sweep(t.Context(), s.exists, func(context.Context, int64) error { return errCrash })
	if !errors.Is(err, errCrash) {
		t.Fatalf("got %v", err)
	}
	s.sweep(t)
	if s.children[1] != 0 {
		t.Errorf("children %v", s.children)
	}
}

func TestASweepContinuesAfterAFailedPurge(t *testing.T) {
	s := newShelf(t, 1, 2, 3)
	for id := range int64(3) {
		if err := s.tombstones.Delete(t.Context(), id+1, s.remove); err != nil {
			t.Fatal(err)
		}
	}
	err := s.tombstones.Sweep(t.Context(), s.exists, func(ctx context.Context, id int64) error {
		if id == 2 {
			return errCrash
		}
		return s.purge(ctx, id)
	})
	if !errors.Is(err, errCrash) {
		t.Errorf("got %v", err)
	}
	if len(s.children) != 1 || s.children[2] != 3 {
		t.Errorf("children %v", s.children)
	}
}

func TestOneOfTwoConcurrentDeletionsReportsNotFound(t *testing.T) {
	s := newShelf(t, 1)
	var errs [2]error
	var group sync.WaitGroup
	for i := range errs {
		group.Go(func() { errs[i] = s.tombstones.Delete(t.Context(), 1, s.remove) })
	}
	group.Wait()
	if (errs[0] == nil) == (errs[1] == nil) || !errors.Is(errors.Join(errs[:]...), docstore.ErrNotFound) {
		t.Errorf("got %v", errs)
	}
}
