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
const perSettling = 5

// Read returns what read returns for the newest moment that is settled. If there is no change, Read waits until
// the moment is one after the call, and reads again. If there is, it does so only where the moment was
// settled more than a step ago. A batch that others follow it returns at once. observe returns the present moment
// of the store.
func (l *Line) Read(
	ctx context.Context, settling time.Duration, observe func(context.Context) (docstore.Moment, error),
	read func(settled docstore.Moment) (docstore.FeedBatch, error),
) (batch docstore.FeedBatch, err error) {
	step := settling / perSettling
	for began := time.Now(); ; {
		if err := l.look(ctx, settling, observe); err != nil {
			return batch, err
		}
		settled, wait := l.settled(settling)
		isYoung := time.Since(settled.at) <= settling+step
		if settled.moment > batch.Until {
			if batch, err = read(settled.moment); err != nil || batch.More || batch.IsElsewhere {
				return batch, err
			}
		}
		if !settled.at.Before(began) || isYoung && len(batch.Changes) > 0 {
			return batch, nil
		}
		if err := pause.For(ctx, min(wait, step)); err != nil {
			return batch, err
		}
	}
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

// settled returns the newest observation of at least a settling time ago, if there is one, and the time until
// the next one is as old.
func (l *Line) settled(settling time.Duration) (newest observation, wait time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, each := range l.observed {
		if wait = settling - time.Since(each.at); wait > 0 {
			return newest, wait
		}
		newest = each
	}
	return newest, settling
}
