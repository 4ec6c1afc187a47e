// Package admission limits concurrency, memory and rates. When the limit of a Gate is reached,
// callers wait for a short time in a bounded queue, and after that they are rejected. An early
// rejection costs almost nothing; a reply that arrives too late costs as much as a useful one. A
// PerKey limits the concurrency of each key, and a Rate its rate.
package admission

import (
	"context"
	"errors"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"
	"golang.org/x/time/rate"
)

// ErrFull reports that all slots and the queue are full, or that no slot became free
// within Limits.Wait.
var ErrFull = errors.New("too many requests in flight; retry later")

type Limits struct {
	// Slots is the concurrency limit, or another sum of weights such as bytes; 0 means no limit.
	Slots int64
	// Queue is how many callers may wait for slots.
	Queue int
	// Wait is how long a caller may wait for slots.
	Wait time.Duration
}

// Gate limits the sum of the weights of its callers: their number, if each weighs 1. A caller that
// weighs more than all slots takes all. A nil Gate has no limit. It may be used concurrently.
type Gate struct {
	limits                   Limits
	slots                    *semaphore.Weighted
	inside, waiting, refused atomic.Int64
}

// New returns a gate, or nil if there is no limit.
func New(limits Limits) *Gate {
	if limits.Slots <= 0 {
		return nil
	}
	return &Gate{limits: limits, slots: semaphore.NewWeighted(limits.Slots)}
}

// Enter takes as many slots as the caller weighs, which the caller returns with Leave. The queue
// is first in, first out. Enter returns ErrFull if there are too few slots.
//
// If ctx has ended, Enter returns its error, even if slots are free: work that no caller
// waits for must not start.
func (g *Gate) Enter(ctx context.Context, weight int64) error {
	if err := ctx.Err(); err != nil || g == nil {
		return err
	}
	if g.take(weight) {
		return nil
	}
	if g.waiting.Add(1) > int64(g.limits.Queue) {
		g.waiting.Add(-1)
		return g.refuse()
	}
	defer g.waiting.Add(-1)
	limited, cancel := context.WithTimeout(ctx, g.limits.Wait)
	defer cancel()
	weight = min(weight, g.limits.Slots)
	if g.slots.Acquire(limited, weight) == nil {
		g.inside.Add(weight)
		return nil
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return g.refuse()
}

// TryEnter takes slots if they are free. It does not wait.
func (g *Gate) TryEnter(weight int64) bool {
	if g == nil || g.take(weight) {
		return true
	}
	g.refused.Add(1)
	return false
}

// Leave returns slots.
func (g *Gate) Leave(weight int64) {
	if g != nil {
		weight = min(weight, g.limits.Slots)
		g.inside.Add(-weight)
		g.slots.Release(weight)
	}
}

func (g *Gate) take(weight int64) bool {
	weight = min(weight, g.limits.Slots)
	isFree := g.slots.TryAcquire(weight)
	if isFree {
		g.inside.Add(weight)
	}
	return isFree
}

func (g *Gate) refuse() error {
	g.refused.Add(1)
	return ErrFull
}

// Stats is the usage of a gate.
type Stats struct {
	// Inside is the sum of the weights of the callers inside, Waiting the number of those that
	// wait. Refused counts since the gate was created.
	Inside, Waiting, Refused int64
}

// Stats returns the usage of the gate; zero for a nil Gate.
func (g *Gate) Stats() Stats {
	if g == nil {
		return Stats{}
	}
	return Stats{g.inside.Load(), g.waiting.Load(), g.refused.Load()}
}

// Limit returns the largest possible sum of weights; 0 for a nil Gate.
func (g *Gate) Limit() int64 {
	if g == nil {
		return 0
	}
	return g.limits.Slots
}

// PerKey limits the concurrency of each key, such as the ClientKey of a client, whose wider
// networks have limits too (KeysOf, Allowance). The empty key has no limit, and a nil PerKey has
// none at all. It remembers only the keys that hold a slot. It may be used concurrently.
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

// Full returns the first of KeysOf without a free slot, or "".
func (p *PerKey) Full(key string) string {
	if p == nil || key == "" {
		return ""
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.full(KeysOf(key))
}

func (p *PerKey) full(keys []string) string {
	for i, each := range keys {
		if p.taken[each] >= p.slots*Allowance(i) {
			return each
		}
	}
	return ""
}

// TryEnter takes a slot of a key if one is free. The caller returns it with Leave.
func (p *PerKey) TryEnter(key string) bool {
	if p == nil || key == "" {
		return true
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	keys := KeysOf(key)
	if p.full(keys) != "" {
		return false
	}
	for _, each := range keys {
		p.taken[each]++
	}
	return true
}

// Leave returns a slot of a key.
func (p *PerKey) Leave(key string) {
	if p == nil || key == "" {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, each := range KeysOf(key) {
		if p.taken[each]--; p.taken[each] <= 0 {
			delete(p.taken, each)
		}
	}
}

// maxKeys is the maximum number of keys in a generation. A Rate keeps two generations,
// so it takes at most about 20 MB.
const maxKeys = 75_000

// Rate limits the events of each key to a rate per second, with a burst for a key that was idle.
// The wider networks of a ClientKey have limits too (KeysOf, Allowance). It forgets the keys that
// were not used for the longest time. It may be used concurrently.
type Rate struct {
	perSecond rate.Limit
	burst     int
	now       func() time.Time

	mu         sync.Mutex
	young, old map[string]*rate.Limiter
	maxYoung   int
}

// NewRate returns a limit that allows each key perSecond events per second. A key that was idle
// may do at once what the rate allows in the time burst, and at least one event. If perSecond is
// not positive, NewRate returns nil, which allows everything.
func NewRate(perSecond float64, burst time.Duration, now func() time.Time) *Rate {
	if !(perSecond > 0) { // also excludes NaN
		return nil
	}
	return &Rate{
		perSecond: rate.Limit(perSecond), burst: max(1, int(math.Round(perSecond*burst.Seconds()))), now: now,
		young: map[string]*rate.Limiter{}, maxYoung: maxKeys,
	}
}

// Take counts an event of a key and returns 0. If the event exceeds the limit, Take does
// not count it and returns how long the key must wait.
func (r *Rate) Take(key string) (retryAfter time.Duration) {
	if r == nil {
		return 0
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	now, keys := r.now(), KeysOf(key)
	retryAfter = r.wait(keys, now)
	for i, each := range keys {
		limiter := r.keep(each, Allowance(i)) // also of a refused key: one that keeps trying must not be forgotten
		if retryAfter == 0 {
			limiter.ReserveN(now, 1)
		}
	}
	return retryAfter
}

// Wait returns how long a key must wait for an event, and counts none. With Charge it limits
// events that are known only afterwards.
func (r *Rate) Wait(key string) time.Duration {
	if r == nil {
		return 0
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.wait(KeysOf(key), r.now())
}

// Charge counts an event of a key that has happened, also one beyond the limit: events at the same
// time then wait for as long as if they had come one after the other.
func (r *Rate) Charge(key string) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, each := range KeysOf(key) {
		r.keep(each, Allowance(i)).ReserveN(r.now(), 1)
	}
}

// wait returns how long keys must wait for an event. The caller holds the lock.
func (r *Rate) wait(keys []string, now time.Time) (longest time.Duration) {
	for _, key := range keys {
		if limiter := r.find(key); limiter != nil {
			seconds := (1 - limiter.TokensAt(now)) / float64(limiter.Limit())
			longest = max(longest, time.Duration(math.Ceil(seconds*float64(time.Second))))
		}
	}
	return longest
}

// find returns the limiter of a key, or nil. The caller holds the lock.
func (r *Rate) find(key string) *rate.Limiter {
	if found := r.young[key]; found != nil {
		return found
	}
	return r.old[key]
}

// keep returns the limiter of a key, which it makes if there is none. The caller holds the lock.
func (r *Rate) keep(key string, allowance int) *rate.Limiter {
	limiter := r.find(key)
	if limiter == nil {
		limiter = rate.NewLimiter(r.perSecond*rate.Limit(allowance), r.burst*allowance)
	}
	if r.young[key] == nil && len(r.young) >= r.maxYoung {
		r.old, r.young = r.young, map[string]*rate.Limiter{}
	}
	r.young[key] = limiter
	return limiter
}
