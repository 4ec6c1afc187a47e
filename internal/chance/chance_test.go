package chance_test

import (
	"slices"
	"testing"
	"testing/cryptotest"

	"github.com/waybook/waybook/internal/chance"
)

func TestNumbersAreBelowAndRepeatWithTheirSeed(t *testing.T) {
	drawn := func(seed uint64) (numbers []int64) {
		cryptotest.SetGlobalRandom(t, seed)
		for range 100 {
			numbers = append(numbers, chance.Below[int64](10))
		}
		return numbers
	}
	first := drawn(1)
	for number := range int64(10) {
		if !slices.Contains(first, number) {
			t.Errorf("%d was not drawn", number)
		}
	}
	if slices.Min(first) < 0 || slices.Max(first) > 9 {
		t.Errorf("drew %v", first)
	}
	if !slices.Equal(drawn(1), first) || slices.Equal(drawn(2), first) {
		t.Error("a seed does not repeat its numbers, or another does")
	}
}
