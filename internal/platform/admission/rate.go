package admission

import (
	"sync"
	"time"
)

// maxKeys is the maximum number of keys in a generation. A Rate keeps two generations,
// so it takes at most about 20 MB.
const maxKeys = 100_000

// Rate limits the events of each key to a rate per second, with a burst for a key that
// was idle. It may be used concurrently.
//
// It uses the generic cell rate algorithm, which is equivalent to a token bucket. For each
// key it stores one time: when all events so far would have happened at the even rate. A
// time in the past carries no information, so the Rate evicts the least recently used
// keys first.
type Rate struct {
	each  time.Duration // between two events at the even rate
	burst time.Duration // how far a key may be ahead of the even rate
	now   func() time.Time

	mu       sync.Mutex
	young    map[string]time.Time
	old      map[string]time.Time
	maxYoung int
}

// NewRate returns a limit that allows each key perSecond events per second. A key that was idle
// may do at once what the rate allows in the time burst, and at least one event. If perSecond is
// not positive, NewRate returns nil, which allows everything.
func NewRate(perSecond float64, burst time.Duration, now func() time.Time) *Rate {
	if !(perSecond > 0) { // also excludes NaN
		return nil
	}
	each := time.Duration(float64(time.Second) / perSecond)
	return &Rate{
		each: each, burst: max(burst, each), now: now,
		young: map[string]time.Time{}, maxYoung: maxKeys,
	}
}

// Take counts an event of a key and returns 0. If the event exceeds the limit, Take does
// not count it and returns how long the key must wait.
func (l *Rate) Take(key string) (retryAfter time.Duration) {
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
	// Store refused keys too: a key that keeps trying must not be evicted.
	if !known && len(l.young) >= l.maxYoung {
		l.old, l.young = l.young, map[string]time.Time{}
	}
	l.young[key] = done
	return retryAfter
}
