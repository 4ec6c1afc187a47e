package choices

import (
	"context"
	"sync"
)

// Background is the work that outlives its callers. The process waits for it
// before it closes the store. The zero value is ready to use. It may be used concurrently.
type Background struct {
	mu      sync.Mutex
	running int
	// isOver is closed when running becomes 0.
	isOver chan struct{}
}

// Run calls work in a goroutine. A nil Background has no owner who could wait.
func (b *Background) Run(work func()) {
	if b == nil {
		go work()
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.running == 0 {
		b.isOver = make(chan struct{})
	}
	b.running++
	go func() {
		defer b.finish()
		work()
	}()
}

func (b *Background) finish() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.running--
	if b.running == 0 {
		close(b.isOver)
	}
}

// Wait waits until nothing runs, or until ctx ends.
func (b *Background) Wait(ctx context.Context) error {
	b.mu.Lock()
	running, isOver := b.running, b.isOver
	b.mu.Unlock()
	if running == 0 {
		return nil
	}
	select {
	case <-isOver:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
