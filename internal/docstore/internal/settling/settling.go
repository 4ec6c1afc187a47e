// Package settling finds the moment up to which the changes of a collection are settled: nothing that
// belongs before it can still appear. It measures with the clock that no step changes.
package settling

import (
	"context"
	"sync"
	"time"

	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/pause"
)

// Line has the present moments of a store that were observed. The zero value is ready to use. It may
// be used concurrently.
type Line struct {
	mu       sync.Mutex
	observed []observation
	// observing is closed when the observation in progress ends; nil if there is none.
	observing chan struct{}
}

// observation: every write that got a moment up to this one had got it at that time.
type observation struct {
	moment docstore.Moment
	at     time.Time
}

// perSettling is how many times per settling time the present is observed at most.
const perSettling = 8

// Read calls read with the newest moment that is settled. If read returns no more than a part of
// what it is asked for, and that moment is an old one, Read waits for a younger one and calls read
// again. goesOn says that the caller calls again at once. observe returns the present moment of the store.
func (l *Line) Read(
	ctx context.Context, settling time.Duration, goesOn bool,
	observe func(context.Context) (docstore.Moment, error), read func(settled docstore.Moment) (isFull bool, err error),
) error {
	if err := l.look(ctx, settling, observe); err != nil {
		return err
	}
	settled, age := l.settled(settling)
	if settled > 0 {
		isFull, err := read(settled)
		if err != nil || isFull || age <= 2*settling {
			return err
		}
	}
	steps := time.Duration(1)
	if goesOn {
		steps = perSettling // the caller's next calls find what is observed meanwhile
	}
	for step := range steps {
		if err := pause.For(ctx, settling/steps); err != nil {
			return err
		}
		if step == steps-1 {
			break
		}
		if err := l.look(ctx, settling, observe); err != nil {
			return err
		}
	}
	settled, _ = l.settled(settling)
	_, err := read(settled)
	return err
}

// look observes the present, unless somebody has done so just now.
func (l *Line) look(ctx context.Context, settling time.Duration, observe func(context.Context) (docstore.Moment, error)) error {
	for {
		l.mu.Lock()
		last := len(l.observed) - 1
		if last >= 0 && time.Since(l.observed[last].at) < settling/perSettling {
			l.mu.Unlock()
			return nil
		}
		others := l.observing
		mine := make(chan struct{})
		if others == nil {
			l.observing = mine
		}
		l.mu.Unlock()
		if others != nil {
			select {
			case <-others:
				continue
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		moment, err := observe(ctx)
		l.mu.Lock()
		l.observing = nil
		if err == nil {
			l.note(observation{moment, time.Now()}, settling)
		}
		l.mu.Unlock()
		close(mine)
		return err
	}
}

// note adds an observation, and forgets those that a settled one makes useless.
func (l *Line) note(present observation, settling time.Duration) {
	for len(l.observed) > 1 && present.at.Sub(l.observed[1].at) >= settling {
		l.observed = l.observed[1:]
	}
	l.observed = append(l.observed, present)
}

// settled returns the newest observation of at least a settling time ago, and its age.
func (l *Line) settled(settling time.Duration) (moment docstore.Moment, age time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	for _, each := range l.observed {
		if now.Sub(each.at) < settling {
			break
		}
		moment, age = each.moment, now.Sub(each.at)
	}
	return moment, age
}
