package workers

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
)

// endless puts numbers until it cannot.
func endless(_ context.Context, put func(int) error) error {
	for n := 0; ; n++ {
		if err := put(n); err != nil {
			return err
		}
	}
}

func TestEveryItemIsDoneOnce(t *testing.T) {
	var sum, inside, most atomic.Int64
	err := Run(t.Context(), 3, func(_ context.Context, put func(int64) error) error {
		for n := range int64(100) {
			if err := put(n); err != nil {
				return err
			}
		}
		return nil
	}, func(_ context.Context, n int64) error {
		if now := inside.Add(1); now > most.Load() {
			most.Store(now)
		}
		defer inside.Add(-1)
		sum.Add(n)
		return nil
	})
	if err != nil || sum.Load() != 4950 || most.Load() > 3 {
		t.Errorf("%v, sum %d, %d at a time", err, sum.Load(), most.Load())
	}
}

func TestTheFirstErrorEndsTheWork(t *testing.T) {
	broken := errors.New("broken")
	if err := Run(t.Context(), 2, endless, func(ctx context.Context, n int) error {
		if n < 10 {
			return nil
		}
		return broken
	}); err != broken {
		t.Errorf("a worker failed, and Run says %v", err)
	}
	stopped := errors.New("stopped")
	ctx, cancel := context.WithCancelCause(t.Context())
	if err := Run(ctx, 2, endless, func(_ context.Context, n int) error {
		if n == 10 {
			cancel(stopped)
		}
		return nil
	}); err != stopped {
		t.Errorf("the context ended, and Run says %v", err)
	}
	if err := Run(t.Context(), 2, func(context.Context, func(int) error) error { return broken }, func(context.Context, int) error { return nil }); err != broken {
		t.Errorf("produce failed, and Run says %v", err)
	}
}
