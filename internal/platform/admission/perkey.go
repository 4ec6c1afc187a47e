package admission

import "sync"

// PerKey limits the concurrency of each key, such as the address of a client. The empty key has
// no limit, and a nil PerKey has none at all. It remembers only the keys that hold a place. It may
// be used concurrently.
type PerKey struct {
	places int

	mu    sync.Mutex
	taken map[string]int
}

// NewPerKey returns a limit of that many places for each key, or nil if there is no limit.
func NewPerKey(places int) *PerKey {
	if places <= 0 {
		return nil
	}
	return &PerKey{places: places, taken: map[string]int{}}
}

// TryEnter takes a place of a key if one is free. The caller returns it with Leave.
func (p *PerKey) TryEnter(key string) bool {
	if p == nil || key == "" {
		return true
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.taken[key] >= p.places {
		return false
	}
	p.taken[key]++
	return true
}

// Leave returns a place of a key.
func (p *PerKey) Leave(key string) {
	if p == nil || key == "" {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.taken[key]--; p.taken[key] <= 0 {
		delete(p.taken, key)
	}
}
