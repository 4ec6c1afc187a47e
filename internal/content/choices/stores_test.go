package choices_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"

	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/storetest"
)

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
