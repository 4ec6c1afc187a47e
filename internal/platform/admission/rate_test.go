package admission

import (
	"fmt"
	"testing"
	"time"
)

// clock is a clock that tests set.
type clock struct{ time.Time }

func (c *clock) now() time.Time { return c.Time }

func TestAKeyGetsItsBurstAndThenTheEvenRate(t *testing.T) {
	c := &clock{time.Unix(1e9, 0)}
	l := NewRate(2, 10*time.Second, c.now)
	take := func(want int) {
		t.Helper()
		got := 0
		for l.Take("a") == 0 {
			got++
		}
		if got != want {
			t.Errorf("%d events at once, want %d", got, want)
		}
	}
	take(20)
	if got := l.Take("a"); got != 500*time.Millisecond {
		t.Errorf("retry after %v, want 500ms", got)
	}
	if l.Take("b") != 0 {
		t.Error("another key was refused")
	}
	c.Time = c.Add(500 * time.Millisecond)
	take(1)
	c.Time = c.Add(time.Second)
	take(2)
	c.Time = c.Add(time.Hour)
	take(20)
}

func TestARateBelowOneInABurstAllowsABurstOfOne(t *testing.T) {
	c := &clock{time.Unix(1e9, 0)}
	l := NewRate(0.01, 10*time.Second, c.now)
	if l.Take("a") != 0 || l.Take("a") != 100*time.Second {
		t.Error("the limit is not one event in 100 seconds")
	}
}

func TestAZeroRateAllowsEverything(t *testing.T) {
	if NewRate(0, time.Second, time.Now).Take("a") != 0 {
		t.Error("an event was refused")
	}
}

func TestMemoryIsBoundedAndABusyKeyIsNotEvicted(t *testing.T) {
	c := &clock{time.Unix(1e9, 0)}
	l := NewRate(1, 10*time.Second, c.now)
	l.maxYoung = 100
	for i := range 10_000 {
		l.Take(fmt.Sprint("once", i))
		if i < 10 && l.Take("busy") != 0 {
			t.Fatal("the busy key was refused within its burst")
		}
		if i >= 10 && l.Take("busy") == 0 {
			t.Fatalf("the busy key was evicted after %d other keys", i)
		}
		if n := len(l.young) + len(l.old); n > 200 {
			t.Fatalf("the limit stores %d keys, want at most 200", n)
		}
	}
}
