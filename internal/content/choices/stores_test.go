package choices_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/waybook/waybook/internal/docstore"
)

// hooked is a store whose calls go through functions; each is optional.
type hooked struct {
	docstore.Engine
	// read and write do a call of the named collection, or fail.
	read, write func(ctx context.Context, collection string, do func() error) error
	// linearizable counts the linearizable reads.
	linearizable atomic.Int64
}

func (h *hooked) Open(ctx context.Context, spec docstore.Spec) (docstore.Table, error) {
	table, err := h.Engine.Open(ctx, spec)
	return &hookedTable{table, h, spec.Name}, err
}

type hookedTable struct {
	docstore.Table
	store *hooked
	name  string
}

func (t *hookedTable) reading(ctx context.Context, do func() error) error {
	if t.store.read == nil {
		return do()
	}
	return t.store.read(ctx, t.name, do)
}

func (t *hookedTable) writing(ctx context.Context, do func() error) error {
	if t.store.write == nil {
		return do()
	}
	return t.store.write(ctx, t.name, do)
}

func (t *hookedTable) Get(ctx context.Context, id docstore.Value) (found bson.Raw, err error) {
	err = t.reading(ctx, func() (err error) { found, err = t.Table.Get(ctx, id); return err })
	return found, err
}

func (t *hookedTable) GetLinearizable(ctx context.Context, id docstore.Value) (found bson.Raw, err error) {
	err = t.reading(ctx, func() (err error) { found, err = t.Table.GetLinearizable(ctx, id); return err })
	t.store.linearizable.Add(1)
	return found, err
}

func (t *hookedTable) GetMany(ctx context.Context, ids []docstore.Value) (found []bson.Raw, err error) {
	err = t.reading(ctx, func() (err error) { found, err = t.Table.GetMany(ctx, ids); return err })
	return found, err
}

func (t *hookedTable) Scan(ctx context.Context, scan docstore.Scan) (found []bson.Raw, more bool, err error) {
	err = t.reading(ctx, func() (err error) { found, more, err = t.Table.Scan(ctx, scan); return err })
	return found, more, err
}

func (t *hookedTable) Insert(ctx context.Context, documents []bson.Raw) (errs []error, err error) {
	err = t.writing(ctx, func() (err error) { errs, err = t.Table.Insert(ctx, documents); return err })
	return errs, err
}

func (t *hookedTable) Update(ctx context.Context, change docstore.Change) error {
	return t.writing(ctx, func() error { return t.Table.Update(ctx, change) })
}

func (t *hookedTable) UpdateMany(ctx context.Context, changes []docstore.Change) (made int64, err error) {
	err = t.writing(ctx, func() (err error) { made, err = t.Table.UpdateMany(ctx, changes); return err })
	return made, err
}

// newSlow returns a store whose reads take 1 ms longer and whose writes take 3 ms longer.
func newSlow(engine docstore.Engine) *hooked {
	after := func(latency time.Duration) func(context.Context, string, func() error) error {
		return func(ctx context.Context, _ string, do func() error) error {
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
	return &hooked{Engine: engine, read: after(time.Millisecond), write: after(3 * time.Millisecond)}
}

var errBroken = errors.New("the connection broke")

// flaky makes a share of the writes of a store fail, half of them after they were done.
type flaky struct {
	mu      sync.Mutex
	failing float64
	failed  int
}

func newFlaky(engine docstore.Engine) (*hooked, *flaky) {
	f := &flaky{}
	return &hooked{Engine: engine, write: f.write}, f
}

func (f *flaky) set(share float64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.failing = share
}

func (f *flaky) write(_ context.Context, _ string, do func() error) error {
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
		return errors.Join(do(), errBroken)
	}
	return errBroken
}

// outcome is what becomes of the write at which a process crashes.
type outcome bool

const (
	notHappened outcome = false
	happened    outcome = true
)

// mortal is the store as a process sees it that crashes at one of its writes. Then all its
// calls fail.
type mortal struct {
	mu sync.Mutex
	// left is the number of writes before the crash; the outcome is that of the write there.
	left    int
	outcome outcome
	isDead  bool
}

// newMortal returns the store of a process that crashes after a number of writes.
func newMortal(engine docstore.Engine, writes int, outcome outcome) (*hooked, *mortal) {
	m := &mortal{left: writes, outcome: outcome}
	return &hooked{Engine: engine, read: m.read, write: m.write}, m
}

func (m *mortal) read(_ context.Context, _ string, do func() error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.isDead {
		return errBroken
	}
	return do()
}

func (m *mortal) write(_ context.Context, _ string, do func() error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.isDead {
		return errBroken
	}
	m.left--
	if m.left >= 0 {
		return do()
	}
	m.isDead = true
	if m.outcome == happened {
		return errors.Join(do(), errBroken)
	}
	return errBroken
}

func (m *mortal) died() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.isDead
}
