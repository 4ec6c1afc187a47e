package blog

import (
	"context"
	"sync"
	"time"

	"github.com/waybook/waybook/internal/content/choices"
)

const (
	// clearingBatch is how many marks are cleared at a time.
	clearingBatch = 64
	// maxClearing bounds the marks that wait. A post whose mark finds no room clears it itself.
	maxClearing = 4096
	// clearingTimeout bounds the clearing of a batch.
	clearingTimeout = 10 * time.Second
)

// clearings clear the marks of posts whose reward was given as due. The posts do not wait for
// that: if a mark stays, a sweep finds the reward given and clears it. Posts that come together
// share a write. It may be used concurrently.
type clearings struct {
	background *choices.Background

	mu        sync.Mutex
	marked    []int64
	isRunning bool
}

// later clears the mark of an entry in the background. It returns false if too many wait.
func (c *clearings) later(ctx context.Context, id int64, clear func(context.Context, []int64)) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.marked) == maxClearing {
		return false
	}
	c.marked = append(c.marked, id)
	if c.isRunning {
		return true
	}
	c.isRunning = true
	ctx = context.WithoutCancel(ctx) // others' marks are cleared, too
	c.background.Run(func() {
		for batch := c.take(); len(batch) > 0; batch = c.take() {
			clear(ctx, batch)
		}
	})
	return true
}

// take removes up to clearingBatch different ids. If none is left, it ends the run.
func (c *clearings) take() []int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := min(len(c.marked), clearingBatch)
	batch := make([]int64, 0, n)
	seen := make(map[int64]bool, n)
	for _, id := range c.marked[:n] {
		if !seen[id] {
			seen[id] = true
			batch = append(batch, id)
		}
	}
	c.marked = append(c.marked[:0], c.marked[n:]...)
	c.isRunning = n > 0
	return batch
}

// clear clears the marks of entries whose author got the whole reward.
func (s *Server) clear(ctx context.Context, ids []int64) {
	ctx, cancel := context.WithTimeout(ctx, clearingTimeout)
	defer cancel()
	err := s.blogs.Documents.UpdateMany(ctx, ids, func(stored *blog) bool {
		isDue := stored.RewardDue != rewardSettled
		stored.RewardDue = rewardSettled
		return isDue
	})
	if err != nil {
		s.log.WarnContext(ctx, "marks of rewards wait for the next sweep", "entries", len(ids), "error", err)
	}
}
