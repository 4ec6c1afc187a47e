package blob

import "sync"

// Backups counts the backups of the documents that name blobs. It may be used concurrently. A nil
// Backups counts none.
type Backups struct {
	mu             sync.Mutex
	begun, running int
}

// Begin begins a backup, which lasts until end.
func (b *Backups) Begin() (end func()) {
	if b == nil {
		return func() {}
	}
	b.add(1, 1)
	return func() { b.add(0, -1) }
}

func (b *Backups) add(begun, running int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.begun, b.running = b.begun+begun, b.running+running
}

// Begun returns how many backups have begun, and whether one is running.
func (b *Backups) Begun() (number int, isRunning bool) {
	if b == nil {
		return 0, false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.begun, b.running > 0
}
