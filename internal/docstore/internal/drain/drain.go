// Package drain lets an engine's Close wait for the calls in flight and refuse later
// ones.
package drain

import "sync"

// Gate counts the calls in flight. The zero value is open.
type Gate struct {
	mu     sync.Mutex
	inside int
	closed bool
	empty  chan struct{}
}

// Enter admits a call, which must call Leave when it ends. It returns false once the
// gate is closed.
func (g *Gate) Enter() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return false
	}
	g.inside++
	return true
}

// Leave ends a call that Enter admitted.
func (g *Gate) Leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.inside--
	if g.closed && g.inside == 0 {
		close(g.empty)
	}
}

// Close refuses new calls and returns when all admitted calls have left. It may be
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
