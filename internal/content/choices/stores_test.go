package choices_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/storetest"
)

// newSlow returns a store whose reads take 1 ms longer and whose writes take 3 ms longer.
func newSlow(engine docstore.Engine) *storetest.Hooked {
	after := func(latency time.Duration) storetest.Hook {
		return func(ctx context.Context, _ storetest.Call, do func() error) error {
			timer := time.NewTimer(latency)
			defer timer.Stop()
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-timer.C:
				return do()
			}
		}
	}
	return &storetest.Hooked{Engine: engine, Read: after(time.Millisecond), Write: after(3 * time.Millisecond)}
}

// flaky makes a share of the writes of a store fail, half of them after they were done.
type flaky struct {
	mu      sync.Mutex
	failing float64
	failed  int
}

func newFlaky(engine docstore.Engine) (*storetest.Hooked, *flaky) {
	f := &flaky{}
	return &storetest.Hooked{Engine: engine, Write: f.write}, f
}

func (f *flaky) set(share float64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.failing = share
}

func (f *flaky) write(_ context.Context, _ storetest.Call, do func() error) error {
	f.mu.Lock()
	drawn, failing := rand.Float64(), f.failing
	if drawn < failing {
		f.failed++
	}
	f.mu.Unlock()
	switch {
	case drawn >= failing:
		return do()
	case drawn < failing/2:
		return errors.Join(do(), storetest.ErrBroken)
	}
	return storetest.ErrBroken
}
