// Package admission bounds how much is done at a time. Who comes when all places are taken
// waits a short while in a bounded queue, and is refused after that: a refusal at once
// costs nearly nothing, an answer that comes too late costs as much as a good one.
package admission

import (
	"context"
	"errors"
	"sync/atomic"
	"time"
)

// ErrFull says that all places and the queue are taken, or that no place became free
// in time.
var ErrFull = errors.New("as much is being done as may be at a time")

// Limits bound a gate.
type Limits struct {
	// Places is how many may be inside at a time; 0 is any number.
	Places int
	// Queue is how many may wait for a place.
	Queue int
	// Wait is how long one of them may wait.
	Wait time.Duration
}

// Gate lets in as many as it has places. A nil Gate lets everybody in. It may be used
// concurrently.
type Gate struct {
	limits  Limits
	places  chan struct{}
	waiting atomic.Int64
	refused atomic.Int64
}

// New returns a gate, or nil when there is no limit.
func New(limits Limits) *Gate {
	if limits.Places <= 0 {
		return nil
	}
	return &Gate{limits: limits, places: make(chan struct{}, limits.Places)}
}

// Enter takes a place, which Leave gives back. It returns ErrFull when there is none, and
// the context's error when that has ended, even if a place became free at that moment:
// what nobody waits for is not begun. Who has waited longer goes first.
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
	case g.places <- struct{}{}:
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

// TryEnter takes a place if there is one now.
func (g *Gate) TryEnter() bool {
	if g == nil || g.take() {
		return true
	}
	g.refused.Add(1)
	return false
}

// Leave gives a place back.
func (g *Gate) Leave() {
	if g != nil {
		<-g.places
	}
}

func (g *Gate) take() bool {
	select {
	case g.places <- struct{}{}:
		return true
	default:
		return false
	}
}

func (g *Gate) refuse() error {
	g.refused.Add(1)
	return ErrFull
}

// Stats is how a gate is used.
type Stats struct {
	// Inside and Waiting are as of now, Refused since the start.
	Inside, Waiting, Refused int64
}

// Stats returns how the gate is used; nothing for a nil Gate.
func (g *Gate) Stats() Stats {
	if g == nil {
		return Stats{}
	}
	return Stats{int64(len(g.places)), g.waiting.Load(), g.refused.Load()}
}
