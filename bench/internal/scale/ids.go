package scale

import (
	"container/heap"
	"math/rand/v2"
	"time"
)

// Policy is how a source draws again after the store has refused an identifier as taken.
type Policy int

// The policies.
const (
	// NextTick takes the next tick.
	NextTick Policy = iota
	// ReadHighest reads the highest identifier of the place and takes the next tick. From the
	// 32nd refusal on, it skips up to twice as many ticks with each. So does internal/id.
	ReadHighest
)

// String returns the policy as the tables show it.
func (p Policy) String() string {
	return [...]string{"the next tick", "after the place's highest"}[p]
}

// What the store is assumed to take for an insert and for a read, and the bounds of a create.
const (
	insertTime = 3 * time.Millisecond
	readTime   = time.Millisecond
	maxDraws   = 64
	skipAfter  = 32
)

// Draws describes creates in one place.
type Draws struct {
	// Tick is the time for which one identifier of a place stands.
	Tick time.Duration
	// Sources is the number of processes. A create goes to any of them.
	Sources int
	// Rate is the number of creates per second, at random moments.
	Rate float64
	// For is how long creates arrive. At Restart, unless it is 0, the first process restarts
	// and forgets the last ticks.
	For, Restart time.Duration
	Policy       Policy
	Seed         uint64
}

// Drawn is the outcome of Draws.
type Drawn struct {
	// Failed is the share of creates that failed after 64 refusals, and Inserts the number of
	// inserts per create.
	Failed, Inserts float64
	// Ahead is how far the highest identifier was ahead of the clock in the end.
	Ahead time.Duration
	// Misplaced is the share of documents that are listed before one that was there when their
	// create began. Behind is the greatest difference of their ticks.
	Misplaced float64
	Behind    time.Duration
}

// insert is an identifier on its way to the store.
type insert struct {
	at          time.Duration // when the store decides
	source      int
	tick, ended int64 // ended is the highest tick that was stored when the create began
	tries       int
}

// place is the state of the simulated place.
type place struct {
	Draws
	random  *rand.Rand
	last    []int64 // of each source
	taken   []bool  // by tick
	highest int64
	waiting inserts

	creates, failed, tries, misplaced int
	behind                            int64
}

// Run simulates the creates.
func (d Draws) Run() Drawn {
	p := place{Draws: d, random: rand.New(rand.NewPCG(d.Seed, draws)), last: make([]int64, d.Sources), highest: -1} // #nosec G404 -- no secret
	for i := range p.last {
		p.last[i] = -1
	}
	restarted := d.Restart == 0
	next, end := time.Duration(0), time.Duration(0)
	for next < d.For || len(p.waiting) > 0 {
		if next >= d.For || len(p.waiting) > 0 && p.waiting[0].at < next {
			each := heap.Pop(&p.waiting).(insert)
			end = each.at
			p.decide(each)
			continue
		}
		if !restarted && next >= d.Restart {
			p.last[0], restarted = -1, true
		}
		p.send(next, insert{source: p.random.IntN(d.Sources), ended: p.highest}, 0)
		next += time.Duration(p.random.ExpFloat64() / d.Rate * float64(time.Second))
	}
	all := float64(p.creates + p.failed)
	return Drawn{
		Failed: float64(p.failed) / all, Inserts: float64(p.tries) / all,
		Ahead:     max(0, time.Duration(p.highest+1)*d.Tick-end),
		Misplaced: float64(p.misplaced) / all, Behind: time.Duration(p.behind) * d.Tick,
	}
}

// send draws a tick, atLeast or higher, and sends the insert.
func (p *place) send(now time.Duration, each insert, atLeast int64) {
	each.tick = max(int64(now/p.Tick), p.last[each.source]+1, atLeast)
	p.last[each.source] = each.tick
	each.tries++
	each.at = now + insertTime/2
	heap.Push(&p.waiting, each)
}

// decide stores a document or refuses its tick.
func (p *place) decide(each insert) {
	p.tries++
	for int64(len(p.taken)) <= each.tick {
		p.taken = append(p.taken, make([]bool, 1<<16)...)
	}
	switch {
	case !p.taken[each.tick]:
		p.taken[each.tick] = true
		p.highest = max(p.highest, each.tick)
		p.creates++
		if each.tick < each.ended {
			p.misplaced++
			p.behind = max(p.behind, each.ended-each.tick)
		}
		return
	case each.tries == maxDraws:
		p.failed++
		return
	}
	now, atLeast := each.at+insertTime/2, int64(0)
	if p.Policy == ReadHighest {
		now += readTime
		atLeast = p.highest + 1 + p.random.Int64N(1<<min(20, max(0, each.tries-skipAfter+1)))
	}
	p.send(now, each, atLeast)
}

// inserts is a heap by time.
type inserts []insert

func (q inserts) Len() int           { return len(q) }
func (q inserts) Less(i, j int) bool { return q[i].at < q[j].at }
func (q inserts) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }

// Push implements heap.Interface.
func (q *inserts) Push(x any) { *q = append(*q, x.(insert)) }

// Pop implements heap.Interface.
func (q *inserts) Pop() any {
	end := len(*q) - 1
	last := (*q)[end]
	*q = (*q)[:end]
	return last
}
