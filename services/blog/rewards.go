package blog

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/waybook/waybook/internal/docstore"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
)

// The account service keeps a ledger with one reward for each entry. An entry is stored together
// with a mark that its reward is due. A sweep adds the reward to the ledger and then clears the
// mark; a deletion adds it, too. The ledger has each reward once, so both may be repeated.

const (
	// rewardDue is the value of blog.RewardDue.
	rewardDue int64 = 1
	// grantBatch is how many rewards a sweep adds at a time, at most 100 as the account service
	// takes them.
	grantBatch = 100
	// grantTimeout bounds a call of the account service, and grantTime all calls of a sweep while
	// it does not reply.
	grantTimeout, grantTime = 3 * time.Second, time.Minute
)

// grantDue adds all rewards that are due to the ledger. It continues after a failure and returns
// the first one. It leaves out an entry that no majority has yet: a failover may undo it, but not
// its reward.
func (s *server) grantDue(ctx context.Context) (failed error) {
	ctx, cancel := context.WithTimeout(ctx, grantTime)
	defer cancel()
	due := docstore.Query{Where: byDue().Is(rewardDue).Everywhere(), Limit: grantBatch, As: docstore.Durable}
	for entries, err := range s.blogs.Documents.Batches(ctx, due) {
		if err == nil {
			err = s.grant(ctx, entries...)
		}
		if err == nil {
			err = s.clearDue(ctx, entries)
		}
		failed = cmp.Or(failed, err)
	}
	return failed
}

// grant adds the rewards of entries to the ledger. An author who no longer exists gets none.
func (s *server) grant(ctx context.Context, entries ...blog) error {
	ctx, cancel := context.WithTimeout(ctx, grantTimeout)
	defer cancel()
	request := &accountv1.GrantRewardsRequest{}
	for _, b := range entries {
		request.Grants = append(request.Grants, &accountv1.Grant{
			UserId: b.AuthorID, Source: "blog/" + strconv.FormatInt(b.ID, 10), Amount: b.Reward,
		})
	}
	if _, err := s.account.GrantRewards(ctx, request); err != nil {
		return fmt.Errorf("grant the rewards of %d entries: %w", len(entries), err)
	}
	return nil
}

// clearDue clears the marks of entries whose rewards are in the ledger.
func (s *server) clearDue(ctx context.Context, entries []blog) error {
	ids := make([]int64, len(entries))
	for i, b := range entries {
		ids[i] = b.ID
	}
	return s.blogs.Documents.UpdateMany(ctx, ids, func(stored *blog) bool {
		isDue := stored.RewardDue != 0
		stored.RewardDue = 0
		return isDue
	})
}
