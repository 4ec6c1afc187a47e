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

// observation: every write that got a moment up to this one had got it when the observation ended. Every
// write that had ended when the observation began has a moment up to this one.
type observation struct {
	moment       docstore.Moment
	began, ended time.Time
}

// perSettling is how many times per settling time the present is observed at most.
const perSettling = 5

// Read returns what read returns for the newest moment that is settled. If there is no change, Read waits until
// the moment is one after the call, and reads again. If there is, it does so only where the moment was
// settled more than a step ago. A batch that others follow it returns at once. observe returns the present moment
// of the store. read also gets the present: a moment that was observed a settling time after the settled one.
func (l *Line) Read(
	ctx context.Context, settling time.Duration, observe func(context.Context) (docstore.Moment, error),
	read func(settled, present docstore.Moment) (docstore.FeedBatch, error),
) (batch docstore.FeedBatch, err error) {
	step := settling / perSettling
	for began := time.Now(); ; {
		if err := l.look(ctx, settling, observe); err != nil {
			return batch, err
		}
		settled, present, wait := l.settled(settling)
		isYoung := time.Since(settled.ended) <= settling+step
		if settled.moment > batch.Until {
			if batch, err = read(settled.moment, present.moment); err != nil || batch.More || batch.IsElsewhere {
				return batch, err
			}
		}
		if !settled.ended.Before(began) || isYoung && len(batch.Changes) > 0 {
			return batch, nil
		}
		if err := pause.For(ctx, min(wait, step)); err != nil {
			return batch, err
		}
	}
}

// look observes the present, unless somebody has done so just now, after all observations that are old enough.
func (l *Line) look(ctx context.Context, settling time.Duration, observe func(context.Context) (docstore.Moment, error)) error {
	for {
		l.mu.Lock()
		if _, present, wait := l.settledOf(settling); wait > 0 && time.Since(present.ended) < settling/perSettling {
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
		began := time.Now()
		moment, err := observe(ctx)
		l.mu.Lock()
		l.observing = nil
		if err == nil {
			l.note(observation{moment, began, time.Now()}, settling)
		}
		l.mu.Unlock()
		close(mine)
		return err
	}
}

// note adds an observation, and forgets those that a settled one makes useless.
func (l *Line) note(present observation, settling time.Duration) {
	for len(l.observed) > 1 && present.began.Sub(l.observed[1].ended) >= settling {
		l.observed = l.observed[1:]
	}
	l.observed = append(l.observed, present)
}

// settled returns the newest observation that ended a settling time before the latest one began, if there is
// one, the latest one, and the time until the next one is as old.
func (l *Line) settled(settling time.Duration) (newest, latest observation, wait time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.settledOf(settling)
}

// settledOf needs the mutex.
func (l *Line) settledOf(settling time.Duration) (newest, latest observation, wait time.Duration) {
	if len(l.observed) == 0 {
		return newest, latest, 0
	}
	latest = l.observed[len(l.observed)-1]
	for _, each := range l.observed {
		if latest.began.Sub(each.ended) < settling {
			return newest, latest, settling - time.Since(each.ended)
		}
		newest = each
	}
	return newest, latest, settling // the latest one has not ended before it began
}
