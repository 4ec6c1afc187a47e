package rpc_test

import (
	"sync"
	"testing"

	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
)

// expectRewards checks the total and the number of a user's rewards.
func (w *waybook) expectRewards(user, total, count int64) {
	w.t.Helper()
	reply := must(w.account.GetRewardTotal(w.t.Context(), &accountv1.GetRewardTotalRequest{UserId: user}))(w.t)
	if reply.GetTotal() != total || reply.GetRewardCount() != count {
		w.t.Errorf("user %d has %v, want %d in %d rewards", user, reply, total, count)
	}
}

func TestARewardIsGrantedOnceForEachSource(t *testing.T) {
	w := start(t)
	user, other := w.newUser("a"), w.newUser("b")
	w.expectRewards(user, 0, 0)
	for _, grant := range []struct {
		user         int64
		source       string
		amount, want int64
	}{
		{user, "blog/1", 10, 10},
		{user, "blog/1", 10, 10},
		{user, "blog/1", 99, 10},
		{user, "blog/2", 5, 5},
		{user, "photo/1", 0, 0},
		{user, "photo/1", 7, 0},
		{other, "blog/1", 1_000_000_000, 1_000_000_000},
	} {
		reply := must(w.account.GrantReward(t.Context(), &accountv1.GrantRewardRequest{
			UserId: grant.user, Source: grant.source, Amount: grant.amount,
		}))(t)
		if amount := reply.GetAmount(); amount != grant.want {
			t.Errorf("%v granted %d", grant, amount)
		}
	}
	w.expectRewards(user, 15, 3)
	w.expectRewards(other, 1_000_000_000, 1)
}

func TestOfConcurrentGrantsForOneSourceOneCounts(t *testing.T) {
	onEachStore(t, func(t *testing.T, w *parts) {
		user := w.newUser("a")
		var given [32]int64
		var group sync.WaitGroup
		for i := range given {
			group.Go(func() {
				reply, err := w.account.GrantReward(t.Context(), &accountv1.GrantRewardRequest{
					UserId: user, Source: "blog/1", Amount: int64(i) + 1,
				})
				if err != nil {
					t.Error(err)
				}
				given[i] = reply.GetAmount()
			})
		}
		group.Wait()
		for _, amount := range given {
			if amount != given[0] {
				t.Fatalf("granted %v", given)
			}
		}
		w.expectRewards(user, given[0], 1)
	})
}
