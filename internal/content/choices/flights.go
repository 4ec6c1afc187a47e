package choices

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/waybook/waybook/internal/docstore"
)

// passTimeout bounds a pass. It is longer than any call of a store waits for a server.
const passTimeout = 10 * time.Second

// flights let the callers of a process share the counting of a parent: while one pass over
// its pending choices runs, all who come wait for the next one. So a caller waits for at most
// two passes, and one process never competes with itself.
type flights[P any] struct {
	mu sync.Mutex
	// next has a key for each parent in flight. The value is the pass that begins after the
	// present one; nil if nobody waits for it.
	next map[int64]*pass[P]
}

// pass is a pass over the pending choices of a parent. The fields are set before done is
// closed.
type pass[P any] struct {
	done   chan struct{}
	parent P
	err    error
}

// join returns the pass that begins next. isFirst is true if the caller has to start the
// flight.
func (f *flights[P]) join(parentID int64) (next *pass[P], isFirst bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.next == nil {
		f.next = map[int64]*pass[P]{}
	}
	next, inFlight := f.next[parentID]
	if next == nil {
		next = &pass[P]{done: make(chan struct{})}
		f.next[parentID] = next
	}
	return next, !inFlight
}

// begin returns the pass that begins now. It returns nil, and ends the flight, if nobody
// waits for one.
func (f *flights[P]) begin(parentID int64) *pass[P] {
	f.mu.Lock()
	defer f.mu.Unlock()
	next := f.next[parentID]
	if next == nil {
		delete(f.next, parentID)
	} else {
		f.next[parentID] = nil
	}
	return next
}

// isAwaited reports whether somebody waits for the next pass.
func (f *flights[P]) isAwaited(parentID int64) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.next[parentID] != nil
}

// count counts the choices that are pending now, and returns the parent. It shares the work
// with other callers.
func (c *Counter[P]) count(ctx context.Context, parentID int64) (P, error) {
	next, isFirst := c.flights.join(parentID)
	if isFirst {
		// The flight outlives its first caller, because others wait for it. Each pass is
		// bounded, and the flight ends when nobody waits.
		c.Background.Run(func() { c.fly(context.WithoutCancel(ctx), parentID) })
	}
	select {
	case <-next.done:
		return next.parent, next.err
	case <-ctx.Done():
		var none P
		return none, ctx.Err()
	}
}

func (c *Counter[P]) fly(ctx context.Context, parentID int64) {
	for next := c.flights.begin(parentID); next != nil; next = c.flights.begin(parentID) {
		c.run(ctx, parentID, next)
	}
}

// run makes a pass. If nobody waits for another one, it then settles a small group, which is
// nearly always a group of one; a large one waits for the next pass or the next sweep.
func (c *Counter[P]) run(ctx context.Context, parentID int64, p *pass[P]) {
	ctx, cancel := context.WithTimeout(ctx, passTimeout)
	defer cancel()
	p.parent, p.err = c.guarded(ctx, parentID)
	close(p.done)
	if p.err != nil || c.flights.isAwaited(parentID) {
		return
	}
	if c.Numbers(&p.parent) != nil && len(c.Mark(&p.parent).members()) <= smallGroup {
		_ = c.settle(ctx, &p.parent) // a sweep repeats what fails
	}
}

// guarded counts, and returns a panic and the end of the pass's own time as errors.
func (c *Counter[P]) guarded(ctx context.Context, parentID int64) (parent P, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic while counting %s under %d: %v", c.Choices.Name(), parentID, r)
		}
	}()
	parent, err = c.countAll(ctx, parentID)
	if err != nil && ctx.Err() != nil {
		err = fmt.Errorf("%w: counting %s under %d: %v", docstore.ErrUnavailable, c.Choices.Name(), parentID, err)
	}
	return parent, err
}

// Background is the work that outlives its callers, such as counting. The process waits for it
// before it closes the store. The zero value is ready to use. It may be used concurrently.
type Background struct {
	mu      sync.Mutex
	running int
	// isOver is closed when running becomes 0.
	isOver chan struct{}
}

// Run calls work in a goroutine. A nil Background has no owner who could wait.
func (b *Background) Run(work func()) {
	if b == nil {
		go work()
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.running == 0 {
		b.isOver = make(chan struct{})
	}
	b.running++
	go func() {
		defer b.finish()
		work()
	}()
}

func (b *Background) finish() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.running--
	if b.running == 0 {
		close(b.isOver)
	}
}

// Wait waits until nothing runs, or until ctx ends.
func (b *Background) Wait(ctx context.Context) error {
	b.mu.Lock()
	running, isOver := b.running, b.isOver
	b.mu.Unlock()
	if running == 0 {
		return nil
	}
	select {
	case <-isOver:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
