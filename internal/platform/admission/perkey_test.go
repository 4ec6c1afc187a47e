package admission

import (
	"fmt"
	"testing"
)

func TestAKeyTakesOnlyItsOwnPlaces(t *testing.T) {
	p := NewPerKey(2)
	for n, want := range []bool{true, true, false} {
		if got := p.TryEnter("a"); got != want {
			t.Errorf("slot %d of a: got %v", n+1, got)
		}
	}
	if !p.TryEnter("b") {
		t.Error("another key got no slot")
	}
	p.Leave("a")
	if !p.TryEnter("a") || p.TryEnter("a") {
		t.Error("a does not have the one slot that it returned")
	}
}

func TestAKeyWithoutAPlaceIsForgotten(t *testing.T) {
	p := NewPerKey(1)
	for n := range 1000 {
		key := fmt.Sprint(n)
		if !p.TryEnter(key) || p.TryEnter(key) {
			t.Fatalf("%s does not have one slot", key)
		}
		p.Leave(key)
	}
	if len(p.taken) != 0 {
		t.Errorf("%d keys are remembered", len(p.taken))
	}
}

func TestNoLimitPerKeyAllowsEverything(t *testing.T) {
	p := NewPerKey(0)
	for range 100 {
		if !p.TryEnter("a") {
			t.Fatal("a slot was refused")
		}
	}
	p.Leave("a")
}
