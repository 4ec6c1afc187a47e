package storetest

import (
	"math/rand/v2"
	"sync"
	"time"
)

// Trouble makes events happen by themselves from now on, until Settle. A seed chooses them: replication is
// held and goes on, primaries fail over and lose writes, deposed ones answer, clocks step, writes are not
// made, and replies to writes are lost.
func (r *cluster) Trouble(seed uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	random := rand.New(rand.NewPCG(seed, seed)) // #nosec G404 -- a test repeats it
	r.trouble = &trouble{Rand: random, every: leastEvery + random.IntN(moreEvery)}
}

// An event happens in about one of so many calls: the seed chooses.
const leastEvery, moreEvery = 3, 20

const (
	// heldCalls is about how many calls replication is held for.
	heldCalls = 4
	// mostStaleReads and mostClockStep bound what a failover brings.
	mostStaleReads = 8
	mostClockStep  = time.Minute
)

// trouble chooses what happens. If it is nil, nothing does.
type trouble struct {
	*rand.Rand
	every int
	// refuses and forgets say that the next write is not made, or its reply lost.
	refuses, forgets bool
}

// stir lets something happen to a shard before a call.
func (o *trouble) stir(r *cluster, s *shard) {
	if o == nil {
		return
	}
	if s.isHeld() {
		if o.IntN(heldCalls) == 0 {
			o.resolve(r, s)
		}
		return
	}
	if o.IntN(o.every) > 0 {
		return
	}
	switch o.IntN(7) {
	case 0, 1, 2:
		r.hold(s)
	case 3:
		o.fail(r, s)
	case 4:
		o.refuses = true
	case 5:
		o.forgets = true
	case 6:
		r.remember(s)
	}
}

// resolve ends the hold of a shard.
func (o *trouble) resolve(r *cluster, s *shard) {
	if o.IntN(3) == 0 {
		r.resume(s)
	} else {
		o.fail(r, s)
	}
}

func (o *trouble) fail(r *cluster, s *shard) {
	replicated := 0
	if o.IntN(2) == 0 {
		replicated = o.IntN(len(s.held) + 1)
	}
	r.fail(Failover{
		Shard: s.number, Replicated: replicated, StaleReads: o.IntN(mostStaleReads + 1), LateReads: o.IntN(mostStaleReads + 1),
		ClockStep: time.Duration(o.Int64N(int64(2*mostClockStep))) - mostClockStep,
	})
}

// awaitIn decides what becomes of a call while replication is held.
func (o *trouble) awaitIn(r *cluster, s *shard) error {
	if o.IntN(2) == 0 {
		return errHeld
	}
	o.resolve(r, s)
	return nil
}

// isStale reports whether a read reaches the deposed primary.
func (o *trouble) isStale() bool { return o == nil || o.IntN(2) == 0 }

// isRefused reports whether a write is not made.
func (o *trouble) isRefused() (is bool) {
	if o != nil {
		is, o.refuses = o.refuses, false
	}
	return is
}

// isUnanswered reports whether the reply to a write is lost.
func (o *trouble) isUnanswered() (is bool) {
	if o != nil {
		is, o.forgets = o.forgets, false
	}
	return is
}

// deposedFor returns how long ago the deposed primary of a shard was deposed.
func (r *cluster) deposedFor(s *shard) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.settings.Now().Sub(s.deposedAt)
}

// storeClock is the clock of a cluster. Each of its times is later than the one before, whatever the
// clocks of the servers do.
type storeClock struct {
	now func() time.Time

	mu      sync.Mutex
	ahead   time.Duration
	present time.Time
}

func (c *storeClock) tick() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	next := c.now().Add(c.ahead)
	if !next.After(c.present) {
		next = c.present.Add(time.Nanosecond)
	}
	c.present = next
	return next
}

func (c *storeClock) step(by time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ahead += by
}

// serverClock is the clock of a server. It remembers the times of a write, and gives them again when
// another server replicates the write.
type serverClock struct {
	store *storeClock

	mu            sync.Mutex
	read, replays []time.Time
}

func (c *serverClock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.replays) > 0 {
		next := c.replays[0]
		c.replays = c.replays[1:]
		return next
	}
	next := c.store.tick()
	c.read = append(c.read, next)
	return next
}

// forget returns the times that were read since, and forgets them.
func (c *serverClock) forget() []time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	read := c.read
	c.read = nil
	return read
}

// replay gives times again.
func (c *serverClock) replay(times []time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.replays = times
}

// Clock is a clock that a test moves. It may be used concurrently.
type Clock struct {
	mu  sync.Mutex
	now time.Time
}

// NewClock returns a clock that stands at a time.
func NewClock(now time.Time) *Clock { return &Clock{now: now} }

// Now returns the time.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Advance moves the clock.
func (c *Clock) Advance(by time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(by)
}

// Set sets the clock.
func (c *Clock) Set(to time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = to
}
