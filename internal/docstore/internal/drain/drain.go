// Package drain lets an engine's Close wait for the calls under way and refuse
// those that come later.
package drain

import "sync"

// Gate counts the calls inside. Its zero value is open.
type Gate struct {
	mu     sync.Mutex
	inside int
	closed bool
	empty  chan struct{}
}

// Enter lets a call in, which must Leave; it is false once the gate is closed.
func (g *Gate) Enter() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return false
	}
	g.inside++
	return true
}

// Leave lets a call out.
func (g *Gate) Leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.inside--
	if g.closed && g.inside == 0 {
		close(g.empty)
	}
}

// Close lets nobody in any more and returns when everybody has left. It may be
// called again.
func (g *Gate) Close() {
	g.mu.Lock()
	if !g.closed {
		g.closed = true
		g.empty = make(chan struct{})
		if g.inside == 0 {
			close(g.empty)
		}
	}
	g.mu.Unlock()
	<-g.empty
}
