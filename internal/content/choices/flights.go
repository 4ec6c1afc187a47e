package choices

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/waybook/waybook/internal/docstore"
)

// passTimeout bounds a pass. It is longer than any call of a store waits for a server.
const passTimeout = 10 * time.Second

// flights let the callers of a process share the counting under a parent: while a pass counts some,
// all who come wait for the next one. So one process never competes with itself.
type flights[P any] struct {
	mu sync.Mutex
	// waiting has a key for each parent in flight.
	waiting map[int64][]*call[P]
}

// call is a call of Put.
type call[P any] struct {
	choiceID string
	decide   Decision[P]
	// moved is the value of a choice that moves in; None for others. isNew says that there was none, and there is the choice
	// that is stored in its place.
	moved int32
	isNew bool
	there Choice
	// refusal is the error of decide. It, parent and err are set before done is closed.
	refusal error
	parent  P
	err     error
	done    chan struct{}
	// ctx tells whether the caller has left before the pass.
	ctx context.Context
}

// change lets a call change a choice, and reports whether it did.
func (c *call[P]) change(parent *P, choice *Choice) bool {
	if c.moved != None {
		if isNone := *choice == (Choice{ID: choice.ID, ParentID: choice.ParentID}); isNone {
			choice.Wanted, choice.Moved, choice.Pending, c.isNew = c.moved, c.moved, Pending, true
			return true
		}
		if isMine := c.isNew && choice.Moved == c.moved; !isMine {
			c.there = *choice
		}
	}
	var wanted int32
	if wanted, c.refusal = c.decide(parent, choice.Wanted); c.refusal != nil || wanted == choice.Wanted {
		return false
	}
	choice.Wanted, choice.Pending = wanted, Pending
	return true
}

// put makes a call in a pass that it shares with others.
func (c *Counter[P]) put(ctx context.Context, parentID int64, mine *call[P]) (P, error) {
	mine.ctx, mine.done = ctx, make(chan struct{})
	if isFirst := c.flights.join(parentID, mine); isFirst {
		// The flight outlives its first caller, because others wait for it. Each pass is
		// bounded, and the flight ends when nobody waits.
		c.Background.Run(func() { c.fly(context.WithoutCancel(ctx), parentID) })
	}
	select {
	case <-mine.done:
		return mine.parent, cmp.Or(mine.err, mine.refusal)
	case <-ctx.Done():
		var none P
		return none, ctx.Err()
	}
}

// join adds a call to those that wait. isFirst is true if the caller has to start the flight.
func (f *flights[P]) join(parentID int64, mine *call[P]) (isFirst bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.waiting == nil {
		f.waiting = map[int64][]*call[P]{}
	}
	waiting, inFlight := f.waiting[parentID]
	f.waiting[parentID] = append(waiting, mine)
	return !inFlight
}

// take returns the calls of the next pass. It ends the flight, and returns none, if nobody waits.
func (f *flights[P]) take(parentID int64) (batch []*call[P]) {
	f.mu.Lock()
	defer f.mu.Unlock()
	waiting := f.waiting[parentID]
	if len(waiting) == 0 {
		delete(f.waiting, parentID)
		return nil
	}
	n := min(len(waiting), maxGroup)
	f.waiting[parentID] = waiting[n:]
	return waiting[:n:n]
}

// isAwaited reports whether somebody waits for the next pass.
func (f *flights[P]) isAwaited(parentID int64) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.waiting[parentID]) > 0
}

func (c *Counter[P]) fly(ctx context.Context, parentID int64) {
	for batch := c.flights.take(parentID); batch != nil; batch = c.flights.take(parentID) {
		c.pass(ctx, parentID, batch)
	}
}

// pass answers the calls of a batch. If nobody waits for another pass, it then settles a small group,
// which is nearly always a group of one; a large one waits for the next pass or the next sweep.
func (c *Counter[P]) pass(ctx context.Context, parentID int64, batch []*call[P]) {
	ctx, cancel := context.WithTimeout(ctx, passTimeout)
	defer cancel()
	batch = slices.DeleteFunc(batch, func(each *call[P]) bool { return each.ctx.Err() != nil })
	if len(batch) == 0 {
		return
	}
	parent, err := c.guarded(ctx, parentID, batch)
	for _, each := range batch {
		each.parent, each.err = parent, err
		close(each.done)
	}
	if err != nil || c.Numbers(&parent) == nil || len(c.Mark(&parent).Group) > smallGroup || c.flights.isAwaited(parentID) {
		return
	}
	_, _ = c.store(ctx, &parent, nil) // a sweep repeats what fails
}

// guarded counts, and returns a panic and the end of the pass's own time as errors.
func (c *Counter[P]) guarded(ctx context.Context, parentID int64, batch []*call[P]) (parent P, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic while counting %s under %d: %v", c.Choices.Name(), parentID, r)
		}
	}()
	parent, err = c.count(ctx, parentID, batch)
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
