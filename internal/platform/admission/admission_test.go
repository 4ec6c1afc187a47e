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

func TestACallerWithoutAPlaceWaitsInABoundedQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := New(Limits{Slots: 1, Queue: 1, Wait: time.Second})
		if err := g.Enter(t.Context(), 1); err != nil {
			t.Fatal(err)
		}
		second := make(chan error)
		go func() { second <- g.Enter(t.Context(), 1) }()
		synctest.Wait()
		if got, want := g.Stats(), (Stats{Inside: 1, Waiting: 1}); got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
		if err := g.Enter(t.Context(), 1); !errors.Is(err, ErrFull) {
			t.Errorf("a third caller with a queue of one: got error %v, want ErrFull", err)
		}
		g.Leave(1)
		if err := <-second; err != nil {
			t.Error(err)
		}
		if err := g.Enter(t.Context(), 1); !errors.Is(err, ErrFull) {
			t.Errorf("a caller while the slot stays taken: got error %v, want ErrFull", err)
		}
		if got, want := g.Stats(), (Stats{Inside: 1, Refused: 2}); got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
	})
}

func TestACallerWhoseContextHasEndedDoesNotEnter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := New(Limits{Slots: 1, Queue: 9, Wait: time.Hour})
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		if err := g.Enter(gone, 1); !errors.Is(err, context.Canceled) {
			t.Errorf("a canceled caller: got error %v", err)
		}
		if err := (*Gate)(nil).Enter(gone, 1); !errors.Is(err, context.Canceled) {
			t.Errorf("a canceled caller, without a limit: got error %v", err)
		}
		if err := g.Enter(t.Context(), 1); err != nil {
			t.Fatal(err)
		}
		late, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := g.Enter(late, 1); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a deadline that passed in the queue: got error %v", err)
		}
		if got, want := g.Stats(), (Stats{Inside: 1}); got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
	})
}

func TestZeroPlacesMeanNoLimit(t *testing.T) {
	g := New(Limits{})
	if err := g.Enter(t.Context(), 1); err != nil || !g.TryEnter(1) || g.Stats() != (Stats{}) {
		t.Errorf("got error %v and %+v, want none", err, g.Stats())
	}
	g.Leave(1)
}

func TestACallerTakesWhatItWeighs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := New(Limits{Slots: 10, Queue: 2, Wait: time.Second})
		for _, each := range []struct {
			weight int64
			want   bool
		}{{7, true}, {4, false}, {3, true}, {1, false}} {
			if got := g.TryEnter(each.weight); got != each.want {
				t.Errorf("%d of 10: got %v", each.weight, got)
			}
		}
		waited := make(chan error)
		go func() { waited <- g.Enter(t.Context(), 11) }() // takes all
		synctest.Wait()
		g.Leave(7)
		if g.TryEnter(1) {
			t.Error("a caller did not wait for the one before it")
		}
		g.Leave(3)
		if err := <-waited; err != nil || g.TryEnter(1) {
			t.Errorf("a caller that weighs more than all slots: %v", err)
		}
		g.Leave(11)
		if got, want := g.Stats(), (Stats{Refused: 4}); got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
	})
}

func TestTheLimitIsNeverExceeded(t *testing.T) {
	const slots = 3
	g := New(Limits{Slots: slots, Queue: 100, Wait: time.Minute})
	var inside atomic.Int64
	var group sync.WaitGroup
	for range 50 {
		group.Go(func() {
			if err := g.Enter(t.Context(), 1); err != nil {
				t.Error(err)
				return
			}
			defer g.Leave(1)
			if n := inside.Add(1); n > slots {
				t.Errorf("%d callers are inside, want at most %d", n, slots)
			}
			inside.Add(-1)
		})
	}
	group.Wait()
	if got := g.Stats(); got != (Stats{}) {
		t.Errorf("got %+v after all callers left, want zero", got)
	}
}
