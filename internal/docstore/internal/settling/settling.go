// Package settling tells up to which moment the changes of a collection have settled. It measures
// with the clock that no step changes, because a store's own time may leap.
package settling

import (
	"sync"
	"time"

	"github.com/waybook/waybook/internal/docstore"
)

// Line has two present moments of a store that were observed at least a settling time apart. It
// may be used concurrently.
type Line struct {
	mu         sync.Mutex
	old, young observation
}

// observation: a write that got a moment up to this one had got it at that time.
type observation struct {
	moment docstore.Moment
	at     time.Time
}

// Begin returns the line of a store that has just been opened, whose writes up to a moment have
// ended.
func Begin(moment docstore.Moment) *Line {
	now := observation{moment, time.Now()}
	return &Line{old: now, young: now}
}

// Settled returns the newest moment that is known to have been the present a settling time before
// a read began; 0 if there is none. A write up to then has ended, unless it takes longer than the
// settling time. The read has observed the present moment.
func (l *Line) Settled(present docstore.Moment, began time.Time, settling time.Duration) docstore.Moment {
	l.mu.Lock()
	defer l.mu.Unlock()
	if began.Sub(l.young.at) >= settling {
		l.old, l.young = l.young, observation{present, time.Now()}
	}
	return l.old.moment
}
