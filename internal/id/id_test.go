package id_test

import (
	"errors"
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/waybook/waybook/internal/id"
)

var noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

func at(now time.Time) func() time.Time { return func() time.Time { return now } }

// draw draws an identifier that is not taken.
func draw(t *testing.T, source *id.Source, place id.Place) int64 {
	t.Helper()
	drawn, err := source.Next(place, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	if id.PlaceOf(drawn) != place {
		t.Fatalf("%d is in place %d; it was drawn in %d", drawn, id.PlaceOf(drawn), place)
	}
	return drawn
}

func TestEachIdentifierOfAPlaceIsHigherThanTheOneBefore(t *testing.T) {
	source, last := id.NewSource(time.Now), map[id.Place]int64{}
	for range 100_000 {
		place := id.Place(rand.N(50))
		next := draw(t, source, place)
		if next <= last[place] {
			t.Fatalf("%d came after %d", next, last[place])
		}
		last[place] = next
	}
}

func TestFewIdentifiersOfDifferentPlacesGrowWhenDrawnInOrder(t *testing.T) {
	source, last := id.NewSource(at(noon)), int64(0)
	for range 60 {
		next := drawInOrder(t, source, id.AnyPlace())
		if next <= last {
			t.Fatalf("%d came after %d", next, last)
		}
		last = next
	}
}

func TestManyIdentifiersOfDifferentPlacesStayNearTheClock(t *testing.T) {
	const leadMillis = 16 * 65
	source := id.NewSource(at(noon))
	limit := draw(t, id.NewSource(at(noon.Add(leadMillis*time.Millisecond))), 0)
	for place := range id.Places {
		if next := drawInOrder(t, source, id.Place(place)); next >= limit {
			t.Fatalf("%d is more than %d ms ahead", next, leadMillis)
		}
	}
}

func drawInOrder(t *testing.T, source *id.Source, place id.Place) int64 {
	t.Helper()
	drawn, err := source.NextInOrder(place, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	return drawn
}

// Another process may draw in the place next.
func TestAPlaceWithFewIdentifiersIsNotAheadOfTheClock(t *testing.T) {
	source := id.NewSource(at(noon))
	next := draw(t, id.NewSource(at(noon.Add(16*time.Millisecond))), 0)
	for place := range id.Places {
		if drawn := draw(t, source, id.Place(place)); drawn >= next {
			t.Fatalf("%d is ahead of the clock", drawn)
		}
	}
}

// What the other source drew may have been removed since. No index has it then.
func TestAnIdentifierAboveOneOfAClockThatIsAheadIsHardlyTheNextOfThatOne(t *testing.T) {
	same := 0
	for range 1000 {
		source, ahead := id.NewSource(at(noon)), id.NewSource(at(noon.Add(5*time.Minute)))
		first, next := draw(t, ahead, 7), draw(t, ahead, 7)
		got, err := source.Next(7, first, 0)
		if err != nil || got <= first {
			t.Fatalf("drew %d after %d: %v", got, first, err)
		}
		if got == next {
			same++
		}
	}
	if same > 20 {
		t.Errorf("%d of 1000 were the same", same)
	}
}

func TestSourcesThatDrawInTurnStayNearTheClock(t *testing.T) {
	sources := []*id.Source{id.NewSource(at(noon)), id.NewSource(at(noon.Add(time.Minute)))}
	limit, last := draw(t, id.NewSource(at(noon.Add(20*time.Minute))), 7), int64(0)
	for n := range 5000 {
		next, err := sources[n%2].Next(7, last, 0)
		if err != nil || next <= last || next > limit {
			t.Fatalf("draw %d is %d after %d: %v", n, next, last, err)
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
				drawn := draw(t, source, id.AnyPlace())
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
	now := noon
	source := id.NewSource(func() time.Time { return now })
	before := draw(t, source, 7)
	now = now.Add(time.Minute)
	for i := range 100_000 {
		if place := id.Place(i); place != 7 {
			draw(t, source, place) // so many that the source forgets the first
		}
	}
	now = now.Add(-time.Hour)
	for range 100 {
		after := draw(t, source, 7)
		if after <= before {
			t.Fatalf("%d came after %d", after, before)
		}
		before = after
	}
	now = now.Add(2 * time.Hour)
	if after := draw(t, source, 7); after <= before {
		t.Fatalf("%d came after %d once the clock had caught up", after, before)
	}
}

func TestALaterTickHasHigherIdentifiersInEverySource(t *testing.T) {
	for range 1000 {
		earlier := draw(t, id.NewSource(at(noon)), id.AnyPlace())
		later := draw(t, id.NewSource(at(noon.Add(16*time.Millisecond))), id.AnyPlace())
		if later <= earlier {
			t.Fatalf("%d was generated a tick after %d", later, earlier)
		}
	}
}

func TestConcurrentIdentifiersAreAllDifferent(t *testing.T) {
	const drawers, draws = 16, 5000
	source := id.NewSource(at(noon))
	var drawn [drawers][draws]int64
	var group sync.WaitGroup
	for i := range drawers {
		group.Go(func() {
			for j := range draws {
				drawn[i][j] = draw(t, source, 1)
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

func TestAnIdentifierIsAboveTheOneThatItsCallerKnows(t *testing.T) {
	ahead, behind := id.NewSource(at(noon)), id.NewSource(at(noon))
	highest := int64(0)
	for range 1000 {
		highest = draw(t, ahead, 3)
	}
	next, err := behind.Next(3, highest, 1)
	if err != nil || next != highest+id.Places {
		t.Errorf("%d comes after %d: %v", next, highest, err)
	}
	if after := draw(t, behind, 3); after <= next {
		t.Errorf("%d came after %d", after, next)
	}
}

func TestASoleSourceLeavesARandomGapOnceAboveIdentifiersThatAreAheadOfTheClock(t *testing.T) {
	ahead, drawn := draw(t, id.NewSource(at(noon.Add(time.Hour))), 3), map[int64]bool{}
	for range 100 {
		sole := id.NewSoleSource(at(noon))
		sole.Meet(3, ahead)
		first := draw(t, sole, 3)
		if first <= ahead || first > ahead+id.Places<<16 {
			t.Errorf("%d comes after %d", first, ahead)
		}
		if second, err := sole.Next(3, first+5*id.Places, 1); second != first+6*id.Places {
			t.Errorf("%d comes after %d: %v", second, first+5*id.Places, err)
		}
		drawn[first] = true
	}
	if len(drawn) < 90 {
		t.Errorf("a hundred sources drew %d", len(drawn))
	}
}

func TestSourcesThatDrawTheSameIdentifiersPart(t *testing.T) {
	first, second := id.NewSource(at(noon)), id.NewSource(at(noon))
	for taken := range 100 {
		a, errA := first.Next(3, 0, taken)
		b, errB := second.Next(3, 0, taken)
		if errA != nil || errB != nil {
			t.Fatal(errA, errB)
		}
		if a != b {
			return
		}
	}
	t.Error("they drew the same a hundred times")
}

func TestAPlaceThatIsTooFarAheadIsRefused(t *testing.T) {
	now := noon
	source := id.NewSource(func() time.Time { return now })
	highest := draw(t, id.NewSource(at(noon.AddDate(0, 0, 30))), 3)
	if _, err := source.Next(3, highest-id.Places, 0); err != nil {
		t.Errorf("30 days ahead: %v", err)
	}
	if drawn, err := source.Next(3, highest, 0); !errors.Is(err, id.ErrAhead) {
		t.Errorf("more than 30 days ahead it drew %d: %v", drawn, err)
	}
	draw(t, source, 4) // other places are not affected
	now = now.AddDate(0, 0, 1)
	draw(t, source, 3)
}

func TestIdentifiersWithoutAnOrderAreInTheirPlaceAndDiffer(t *testing.T) {
	source, seen := id.NewSource(at(noon)), map[int64]bool{}
	for range 1000 {
		drawn := source.Unordered(9)
		if id.PlaceOf(drawn) != 9 || drawn > draw(t, id.NewSource(at(noon)), 9) || drawn < 1 {
			t.Errorf("drew %d", drawn)
		}
		seen[drawn] = true
	}
	if len(seen) < 990 {
		t.Errorf("only %d of 1000 differ", len(seen))
	}
}

func TestThePlaceOfAKeyNeverChanges(t *testing.T) {
	for key, want := range map[string]id.Place{"": 17065, "import:a": 5778, "import:b": 26183} {
		if got := id.PlaceOfKey(5, key); got != want {
			t.Errorf("key %q is in place %d, not %d", key, got, want)
		}
	}
}

func TestTheKeysOfAnOwnerSpreadOverAllPlaces(t *testing.T) {
	const keys, parts = 1_000_000, 16
	var counts [parts]int
	used := map[id.Place]bool{}
	for i := range keys {
		place := id.PlaceOfKey(5, "import:"+strconv.Itoa(i))
		counts[int(place)*parts/id.Places]++
		used[place] = true
	}
	if len(used) < id.Places*99/100 {
		t.Errorf("they are in %d places", len(used))
	}
	for part, count := range counts {
		if count < keys/parts*98/100 || count > keys/parts*102/100 {
			t.Errorf("part %d of %d has %d of %d keys", part, parts, count, keys)
		}
	}
}
