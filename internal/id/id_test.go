package id_test

import (
	"sync"
	"testing"
	"time"

	"github.com/waybook/waybook/internal/id"
)

func at(now time.Time) func() time.Time { return func() time.Time { return now } }

func TestEachIdentifierIsHigherThanTheOneBefore(t *testing.T) {
	source := id.NewSource(time.Now)
	last := int64(0)
	for range 100_000 {
		next := source.Next()
		if next <= last {
			t.Fatalf("%d came after %d", next, last)
		}
		last = next
	}
}

func TestAnIdentifierIsPositiveAndHeldByADouble(t *testing.T) {
	for name, now := range map[string]time.Time{
		"before the epoch":           time.Date(1999, 12, 31, 0, 0, 0, 0, time.UTC),
		"at the epoch":               time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC),
		"today":                      time.Now(),
		"in the last year that fits": time.Date(2089, 1, 1, 0, 0, 0, 0, time.UTC),
	} {
		t.Run(name, func(t *testing.T) {
			source := id.NewSource(at(now))
			for range 1000 {
				drawn := source.Next()
				if drawn < 1 || drawn > id.Max {
					t.Fatalf("drew %d", drawn)
				}
				if int64(float64(drawn)) != drawn {
					t.Fatalf("a double does not hold %d", drawn)
				}
			}
		})
	}
}

func TestAClockThatStepsBackDoesNotLowerIdentifiers(t *testing.T) {
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	source := id.NewSource(func() time.Time { return now })
	before := source.Next()
	now = now.Add(-time.Hour)
	for range 100 {
		after := source.Next()
		if after <= before {
			t.Fatalf("%d came after %d", after, before)
		}
		before = after
	}
	now = now.Add(2 * time.Hour)
	if after := source.Next(); after <= before {
		t.Fatalf("%d came after %d once the clock had caught up", after, before)
	}
}

func TestALaterMillisecondHasHigherIdentifiersInEverySource(t *testing.T) {
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	for range 1000 {
		earlier, later := id.NewSource(at(now)).Next(), id.NewSource(at(now.Add(time.Millisecond))).Next()
		if later <= earlier {
			t.Fatalf("%d was generated a millisecond after %d", later, earlier)
		}
	}
}

func TestConcurrentIdentifiersAreAllDifferent(t *testing.T) {
	const drawers, draws = 16, 5000
	source := id.NewSource(at(time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)))
	var drawn [drawers][draws]int64
	var group sync.WaitGroup
	for i := range drawers {
		group.Go(func() {
			for j := range draws {
				drawn[i][j] = source.Next()
			}
		})
	}
	group.Wait()
	seen := make(map[int64]bool, drawers*draws)
	for i := range drawn {
		for j, next := range drawn[i] {
			if seen[next] {
				t.Fatalf("%d was generated twice", next)
			}
			if j > 0 && next <= drawn[i][j-1] {
				t.Fatalf("one goroutine got %d after %d", next, drawn[i][j-1])
			}
			seen[next] = true
		}
	}
}
