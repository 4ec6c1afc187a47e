package choices

import "runtime"

// The bounds that tests refer to.
const (
	MaxGroup   = maxGroup
	SmallGroup = smallGroup
)

// Land returns when no parent is in flight.
func (c *Counter[P]) Land() {
	for {
		c.flights.mu.Lock()
		flying := len(c.flights.next)
		c.flights.mu.Unlock()
		if flying == 0 {
			return
		}
		runtime.Gosched()
	}
}

// ValueOf returns the counted value of a choice.
func (c *Counter[P]) ValueOf(parent *P, choice *Choice) int32 { return c.valueOf(parent, choice) }
