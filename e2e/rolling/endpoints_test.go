package rolling

import (
	"slices"
	"sync"
)

// endpoints are the edges to which an ingress sends requests in turn. It is safe for concurrent
// use.
type endpoints struct {
	mu    sync.Mutex
	ready []string
	next  int
	// underWay counts the requests in flight to each address.
	underWay map[string]*sync.WaitGroup
}

// pick returns the address for the next request. The caller calls done after the reply.
func (e *endpoints) pick() (address string, done func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.next++
	address = e.ready[e.next%len(e.ready)]
	e.underWay[address].Add(1)
	return address, e.underWay[address].Done
}

// add starts to send requests to an address.
func (e *endpoints) add(address string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.ready = append(e.ready, address)
	e.underWay[address] = &sync.WaitGroup{}
}

// remove stops sending requests to an address, and waits until the requests in flight are answered.
func (e *endpoints) remove(address string) {
	e.mu.Lock()
	e.ready = slices.DeleteFunc(e.ready, func(known string) bool { return known == address })
	left := e.underWay[address]
	e.mu.Unlock()
	left.Wait()
}
