// Package admission limits concurrency and rates. When the limit of a Gate is reached, callers wait
// for a short time in a bounded queue, and after that they are rejected. An early rejection costs
// almost nothing; a reply that arrives too late costs as much as a useful one. A PerKey limits the
// concurrency of each key, and a Rate its rate.
package admission

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"
)

// ErrFull reports that all slots and the queue are full, or that no slot became free
// within Limits.Wait.
var ErrFull = errors.New("too many requests in flight; retry later")

// Limits configure a gate.
type Limits struct {
	// Slots is the concurrency limit; 0 means no limit.
	Slots int
	// Queue is how many callers may wait for a slot.
	Queue int
	// Wait is how long a caller may wait for a slot.
	Wait time.Duration
}

// Gate enforces a concurrency limit. A nil Gate has no limit. It may be used concurrently.
type Gate struct {
	limits  Limits
	slots   chan struct{}
	waiting atomic.Int64
	refused atomic.Int64
}

// New returns a gate, or nil if there is no limit.
func New(limits Limits) *Gate {
	if limits.Slots <= 0 {
		return nil
	}
	return &Gate{limits: limits, slots: make(chan struct{}, limits.Slots)}
}

// Enter takes a slot, which the caller returns with Leave. The queue is first in, first
// out. Enter returns ErrFull if there is no slot.
//
// If ctx has ended, Enter returns its error, even if a slot is free: work that no caller
// waits for must not start.
func (g *Gate) Enter(ctx context.Context) error {
	if err := ctx.Err(); err != nil || g == nil {
		return err
	}
	if g.take() {
		return nil
	}
	if g.waiting.Add(1) > int64(g.limits.Queue) {
		g.waiting.Add(-1)
		return g.refuse()
	}
	defer g.waiting.Add(-1)
	timer := time.NewTimer(g.limits.Wait)
	defer timer.Stop()
	select {
	case g.slots <- struct{}{}:
	case <-timer.C:
		return g.refuse()
	case <-ctx.Done():
		return ctx.Err()
	}
	if err := ctx.Err(); err != nil {
		g.Leave()
		return err
	}
	return nil
}

// TryEnter takes a slot if one is free. It does not wait.
func (g *Gate) TryEnter() bool {
	if g == nil || g.take() {
		return true
	}
	g.refused.Add(1)
	return false
}

// Leave returns a slot.
func (g *Gate) Leave() {
	if g != nil {
		<-g.slots
	}
}

func (g *Gate) take() bool {
	select {
	case g.slots <- struct{}{}:
		return true
	default:
		return false
	}
}

func (g *Gate) refuse() error {
	g.refused.Add(1)
	return ErrFull
}

// Stats is the usage of a gate.
type Stats struct {
	// Inside and Waiting are current numbers. Refused counts since the gate was created.
	Inside, Waiting, Refused int64
}

// Stats returns the usage of the gate; zero for a nil Gate.
func (g *Gate) Stats() Stats {
	if g == nil {
		return Stats{}
	}
	return Stats{int64(len(g.slots)), g.waiting.Load(), g.refused.Load()}
}

// PerKey limits the concurrency of each key, such as the address of a client. The empty key has
// no limit, and a nil PerKey has none at all. It remembers only the keys that hold a slot. It may
// be used concurrently.
type PerKey struct {
	slots int

	mu    sync.Mutex
	taken map[string]int
}

// NewPerKey returns a limit of that many slots for each key, or nil if there is no limit.
func NewPerKey(slots int) *PerKey {
	if slots <= 0 {
		return nil
	}
	return &PerKey{slots: slots, taken: map[string]int{}}
}

// TryEnter takes a slot of a key if one is free. The caller returns it with Leave.
func (p *PerKey) TryEnter(key string) bool {
	if p == nil || key == "" {
		return true
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.taken[key] >= p.slots {
		return false
	}
	p.taken[key]++
	return true
}

// Leave returns a slot of a key.
func (p *PerKey) Leave(key string) {
	if p == nil || key == "" {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.taken[key]--; p.taken[key] <= 0 {
		delete(p.taken, key)
	}
}
