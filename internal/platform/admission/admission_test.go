package admission

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestWhoFindsNoPlaceWaitsForOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := New(Limits{Places: 1, Queue: 1, Wait: time.Second})
		if err := g.Enter(t.Context()); err != nil {
			t.Fatal(err)
		}
		second := make(chan error)
		go func() { second <- g.Enter(t.Context()) }()
		synctest.Wait()
		if got, want := g.Stats(), (Stats{Inside: 1, Waiting: 1}); got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
		if err := g.Enter(t.Context()); !errors.Is(err, ErrFull) {
			t.Errorf("the queue took a second: %v", err)
		}
		g.Leave()
		if err := <-second; err != nil {
			t.Error(err)
		}
		if err := g.Enter(t.Context()); !errors.Is(err, ErrFull) {
			t.Errorf("nobody left, and there was a place: %v", err)
		}
		if got, want := g.Stats(), (Stats{Inside: 1, Refused: 2}); got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
	})
}

func TestWhatNobodyWaitsForIsNotBegun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := New(Limits{Places: 1, Queue: 9, Wait: time.Hour})
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		if err := g.Enter(gone); !errors.Is(err, context.Canceled) {
			t.Errorf("a caller who is gone: %v", err)
		}
		if err := (*Gate)(nil).Enter(gone); !errors.Is(err, context.Canceled) {
			t.Errorf("a caller who is gone, without a limit: %v", err)
		}
		if err := g.Enter(t.Context()); err != nil {
			t.Fatal(err)
		}
		late, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := g.Enter(late); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a deadline that passed in the queue: %v", err)
		}
		if got, want := g.Stats(), (Stats{Inside: 1}); got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
	})
}

func TestAGateWithoutPlacesIsNone(t *testing.T) {
	g := New(Limits{})
	if err := g.Enter(t.Context()); err != nil || !g.TryEnter() || g.Stats() != (Stats{}) {
		t.Errorf("%v, %+v", err, g.Stats())
	}
	g.Leave()
}

func TestNeverAreMoreInsideThanThereArePlaces(t *testing.T) {
	const places = 3
	g := New(Limits{Places: places, Queue: 100, Wait: time.Minute})
	var inside atomic.Int64
	var group sync.WaitGroup
	for range 50 {
		group.Go(func() {
			if err := g.Enter(t.Context()); err != nil {
				t.Error(err)
				return
			}
			defer g.Leave()
			if n := inside.Add(1); n > places {
				t.Errorf("%d are inside", n)
			}
			inside.Add(-1)
		})
	}
	group.Wait()
	if got := g.Stats(); got != (Stats{}) {
		t.Errorf("%+v", got)
	}
}
