package id_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/waybook/waybook/internal/id"
)

func TestAnOldNumberIsReadFromItsIdentifier(t *testing.T) {
	for _, old := range []int64{1, 2, 65_535, 1 << 32, id.MaxOld - 1, id.MaxOld} {
		for _, place := range []id.Place{0, 1, id.Places - 1} {
			moved := id.OfOld(old, place)
			back, ok := id.Old(moved)
			if !ok || back != old || id.PlaceOf(moved) != place || !id.IsMoved(moved) {
				t.Errorf("old %d in place %d is %d, which is of %d, %v", old, place, moved, back, ok)
			}
			if moved < id.Lowest || moved > id.Max {
				t.Errorf("old %d is %d, which is out of range", old, moved)
			}
		}
	}
}

func TestIdentifiersOfOldNumbersHaveTheirOrder(t *testing.T) {
	for _, old := range []int64{1, 77, 1 << 31, id.MaxOld - 1} {
		highest, next := id.OfOld(old, id.Places-1), id.OfOld(old+1, 0)
		if highest >= next || id.AfterOld(old) < highest || id.AfterOld(old) >= next {
			t.Errorf("%d is at %d, the position after it is %d, and the next is at %d", old, highest, id.AfterOld(old), next)
		}
	}
}

func TestIdentifiersOfOldTextsAreApartFromAllOthers(t *testing.T) {
	earliest := draw(t, id.NewSource(at(time.Date(2024, 6, 1, 0, 0, 0, 0, time.UTC))), 0)
	seen := map[int64]bool{}
	for i := range 100_000 {
		moved := id.OfOldText(fmt.Sprint("album-", i), 7, i%id.Probes)
		if _, isNumber := id.Old(moved); isNumber || !id.IsMoved(moved) || id.PlaceOf(moved) != 7 {
			t.Fatalf("text %d is %d", i, moved)
		}
		if moved <= id.OfOld(id.MaxOld, id.Places-1) || moved >= earliest {
			t.Fatalf("text %d is %d, which is not between numbers and drawn identifiers", i, moved)
		}
		seen[moved] = true
	}
	if len(seen) < 99_980 {
		t.Errorf("only %d of 100,000 differ", len(seen))
	}
}

// It is in stored identifiers.
func TestTheIdentifierOfAnOldIdentifierNeverChanges(t *testing.T) {
	if got := id.OfOld(123, 45); got != 1_099_519_688_749 {
		t.Errorf("old 123 is %d", got)
	}
	for probe, want := range []int64{459_158_999_662_637, 459_159_042_588_717} {
		if got := id.OfOldText("a1b2", 45, probe); got != want {
			t.Errorf("probe %d of a1b2 is %d, not %d", probe, got, want)
		}
	}
}

func TestADrawnIdentifierIsNotMoved(t *testing.T) {
	now := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	drawn := draw(t, id.NewSource(at(now)), 9)
	if id.IsMoved(drawn) {
		t.Errorf("%d counts as moved", drawn)
	}
}

func TestOnlyUsualNumbersAreOldNumbers(t *testing.T) {
	for text, want := range map[string]int64{
		"1": 1, "42": 42, "9007199254740991": id.Max,
		"": 0, "0": 0, "007": 0, "-1": 0, "+1": 0, "1.0": 0, " 1": 0, "1 ": 0, "1e3": 0, "a": 0, "１": 0,
		"9007199254740992": 0, "99999999999999999999": 0,
	} {
		old, ok := id.ParseOld(text)
		if ok != (want != 0) || ok && old != want {
			t.Errorf("%q is %d, %v", text, old, ok)
		}
	}
}
