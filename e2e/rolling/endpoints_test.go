package rolling

import (
	"slices"
	"sync"
)

// endpoints are the edges that an ingress knows of and sends requests to, one after the
// other. It may be used concurrently.
type endpoints struct {
	mu    sync.Mutex
	ready []string
	next  int
	// underWay are the requests that each address has.
	underWay map[string]*sync.WaitGroup
}

// pick is where the next request goes; done says that it has been answered.
func (e *endpoints) pick() (address string, done func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.next++
	address = e.ready[e.next%len(e.ready)]
	e.underWay[address].Add(1)
	return address, e.underWay[address].Done
}

// add sends requests to an address from now on.
func (e *endpoints) add(address string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.ready = append(e.ready, address)
	e.underWay[address] = &sync.WaitGroup{}
}

// remove sends no more requests to an address, and returns when those that were sent have
// been answered.
func (e *endpoints) remove(address string) {
	e.mu.Lock()
	e.ready = slices.DeleteFunc(e.ready, func(known string) bool { return known == address })
	left := e.underWay[address]
	e.mu.Unlock()
	left.Wait()
}
