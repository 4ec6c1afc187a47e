package scale

import (
	"math/rand/v2"
	"time"
)

// lead is how far identifiers of different places may be ahead of the clock to keep the order in
// which they were drawn: internal/id.
const lead = 1024 * time.Millisecond

// Import describes an import of landmarks by one process. Each landmark has a random place.
type Import struct {
	Rate float64
	For  time.Duration
	Tick time.Duration
	Bits int
	Seed uint64
}

// Run returns how far the highest identifier was ahead of the clock at the most.
func (i Import) Run() time.Duration {
	random := rand.New(rand.NewPCG(i.Seed, draws)) // #nosec G404 -- no secret
	last := make([]int64, 1<<i.Bits)
	for place := range last {
		last[place] = -1
	}
	ahead, leadTicks := time.Duration(0), int64(lead/i.Tick)
	latestTick, latestPlace := int64(-1), 0
	for n := range int(i.Rate * i.For.Seconds()) {
		now := time.Duration(float64(n) / i.Rate * float64(time.Second))
		clock, place := int64(now/i.Tick), random.IntN(len(last))
		tick := clock
		if latestTick >= clock && latestTick < clock+leadTicks {
			tick = latestTick
			if place <= latestPlace {
				tick++
			}
		}
		tick = max(tick, last[place]+1)
		last[place] = tick
		if tick <= clock+leadTicks && (tick > latestTick || tick == latestTick && place > latestPlace) {
			latestTick, latestPlace = tick, place
		}
		ahead = max(ahead, time.Duration(tick)*i.Tick-now)
	}
	return ahead
}
