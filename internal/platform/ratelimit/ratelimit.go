// Package ratelimit bounds how often each of many may do something, in bounded memory.
package ratelimit

import (
	"sync"
	"time"
)

// maxKeys is how many keys a generation remembers; there are two of them, so that
// a limiter takes some 20 MB at most.
const maxKeys = 100_000

// Limiter lets each key do a number of things in each second, and more at once when it
// did less before. It may be used concurrently.
//
// Of each key it keeps one moment: when all that was done would be done at the even rate
// (the generic cell rate algorithm, which counts as a bucket of tokens does). A moment
// that has passed says nothing more, so what is forgotten first is what was used last
// longest ago.
type Limiter struct {
	each  time.Duration // between two things at the even rate
	burst time.Duration // how far ahead of it a key may be
	now   func() time.Time

	mu       sync.Mutex
	young    map[string]time.Time
	old      map[string]time.Time
	maxYoung int
}

// burstSeconds is how much may be done at once: what the rate gives in that time.
const burstSeconds = 10

// New returns a limiter of as many things per second for each key, of which those of ten
// seconds may come at once; nil, which allows everything, when perSecond is not positive.
func New(perSecond float64, now func() time.Time) *Limiter {
	if !(perSecond > 0) { // NaN is no rate either
		return nil
	}
	each := time.Duration(float64(time.Second) / perSecond)
	return &Limiter{
		each: each, burst: max(burstSeconds*time.Second, each), now: now,
		young: map[string]time.Time{}, maxYoung: maxKeys,
	}
}

// Take counts one thing of a key. When that is one too many, it is not counted, and
// retryAfter is how long the key has to wait; otherwise that is 0.
func (l *Limiter) Take(key string) (retryAfter time.Duration) {
	if l == nil {
		return 0
	}
	now := l.now()
	l.mu.Lock()
	defer l.mu.Unlock()
	done, known := l.young[key]
	if !known {
		done = l.old[key]
	}
	if done.Before(now) {
		done = now
	}
	if ahead := done.Add(l.each).Sub(now); ahead > l.burst {
		retryAfter = ahead - l.burst
	} else {
		done = done.Add(l.each)
	}
	// One that is refused is remembered too: it is not to be forgotten for trying.
	if !known && len(l.young) >= l.maxYoung {
		l.old, l.young = l.young, map[string]time.Time{}
	}
	l.young[key] = done
	return retryAfter
}
