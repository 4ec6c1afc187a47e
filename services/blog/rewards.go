package blog

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/waybook/waybook/internal/content/choices"
	"github.com/waybook/waybook/internal/docstore"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
)

// An author gets the reward of an entry exactly once. The entry is stored together with a
// mark that its reward is due. The account service gives no reward twice for the same
// entry, and the mark is cleared only after it has given it. So any call that finds a mark
// may settle it: the post, its retry, the deletion, a sweep.

const (
	// grantTimeout bounds how long a post waits for its reward. A sweep can give the reward
	// later.
	grantTimeout = 3 * time.Second
	// settleTimeout bounds a sweep while the account service does not reply.
	settleTimeout = time.Minute
	// settleBatch is how many entries a sweep reads at a time.
	settleBatch = 20
)

// The values of blog.RewardDue.
const (
	rewardSettled int64 = iota
	rewardDue
)

// errSettled ends an update when the mark is already cleared.
var errSettled = errors.New("the reward is settled")

// dueOf returns the RewardDue of a new entry.
func dueOf(reward int64) int64 {
	if reward == 0 {
		return rewardSettled
	}
	return rewardDue
}

// trySettle gives the reward of a stored entry and returns the entry. If that fails, the entry
// stays as it is, and a sweep will settle it. The mark may be cleared after the return.
func (s *server) trySettle(ctx context.Context, b blog) blog {
	if b.RewardDue == rewardSettled {
		return b
	}
	amount, err := s.grant(ctx, b)
	if err == nil && amount == b.Reward && ctx.Err() == nil && s.clearings.later(ctx, b.ID, s.clear) {
		b.RewardDue = rewardSettled
		return b
	}
	settled, err := s.clearGranted(ctx, b, amount, err)
	if err != nil {
		s.log.WarnContext(ctx, "a reward waits for the next sweep", "error", err)
		return b
	}
	return settled
}

// settle gives an entry's author the reward if it is due, stores the amount that the author
// got, and clears the mark. An author who no longer exists gets none.
func (s *server) settle(ctx context.Context, b blog) (blog, error) {
	if b.RewardDue == rewardSettled {
		return b, nil
	}
	amount, err := s.grant(ctx, b)
	return s.clearGranted(ctx, b, amount, err)
}

// clearGranted stores the amount that grant returned and clears the mark.
func (s *server) clearGranted(ctx context.Context, b blog, amount int64, err error) (blog, error) {
	if err != nil && status.Code(err) != codes.NotFound {
		return b, fmt.Errorf("grant the reward of entry %d: %w", b.ID, err)
	}
	_, err = s.blogs.Documents.Update(ctx, b.ID, func(stored *blog) error {
		if stored.RewardDue == rewardSettled {
			return errSettled
		}
		stored.Reward, stored.RewardDue = amount, rewardSettled
		return nil
	})
	if err != nil && !errors.Is(err, errSettled) && !errors.Is(err, docstore.ErrNotFound) {
		return b, err
	}
	// Or another call settled first, or deleted the entry, which settles too.
	b.Reward, b.RewardDue = amount, rewardSettled
	return b, nil
}

// grant returns the amount that the author got, now or earlier. It is less than the reward if
// the author has had enough rewards for a day.
func (s *server) grant(ctx context.Context, b blog) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, grantTimeout)
	defer cancel()
	granted, err := s.account.GrantReward(ctx, &accountv1.GrantRewardRequest{
		UserId: b.AuthorID, Source: "blog/" + strconv.FormatInt(b.ID, 10), Amount: b.Reward,
	})
	return granted.GetAmount(), err
}

// settleDue settles all rewards that are due. It continues after a failure and returns the
// first one. It leaves out an entry that no majority has yet: a failover may undo it, but not its reward.
func (s *server) settleDue(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, settleTimeout)
	defer cancel()
	var first error
	failed := 0
	query := docstore.Query{Where: byDue().Is(rewardDue).Everywhere(), Limit: settleBatch, As: docstore.Durable}
	for entries, err := range s.blogs.Documents.Batches(ctx, query) {
		if err != nil {
			return errors.Join(first, err)
		}
		for _, b := range entries {
			if _, err := s.settle(ctx, b); err != nil {
				failed++
				if first == nil {
					first = err
				}
			}
		}
	}
	if first != nil {
		return fmt.Errorf("%d rewards are still due; the first failed with: %w", failed, first)
	}
	return nil
}

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
func (s *server) clear(ctx context.Context, ids []int64) {
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
