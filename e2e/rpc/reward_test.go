package rpc_test

import (
	"testing"

	"github.com/waybook/waybook/internal/waybooktest"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
)

// expectRewards checks the total and the number of a user's rewards.
func (w *waybook) expectRewards(user, total, count int64) {
	w.t.Helper()
	want := waybooktest.Rewards{Total: total, Count: count}
	if got := must(waybooktest.RewardsOf(w.t.Context(), w.Account, user))(w.t); got != want {
		w.t.Errorf("user %d has the rewards %+v, want %+v", user, got, want)
	}
}

func TestAnEntryBeyondTheDaysRewardsShowsNone(t *testing.T) {
	t.Parallel()
	w := start(t, waybooktest.Flags("-rewards-per-day=2"))
	author := w.newUser("a")
	post := func(n int) *blogv1.Blog {
		request := newBlogRequest(author)
		request.RequestId = requestID(n)
		return must(w.Blog.CreateBlog(t.Context(), request))(t).GetBlog()
	}
	for n, want := range []int64{10, 10, 0, 0} {
		for _, when := range []string{"when posted", "when repeated"} {
			posted := post(n)
			if posted.GetReward() != want {
				t.Errorf("entry %d shows a reward of %d %s, want %d", n, posted.GetReward(), when, want)
			}
			read := must(w.Blog.GetBlog(t.Context(), &blogv1.GetBlogRequest{BlogId: posted.GetBlogId()}))(t)
			if read.GetBlog().GetReward() != want {
				t.Errorf("entry %d is read with %v", n, read)
			}
		}
	}
	must(w.Blog.DeleteBlog(t.Context(), &blogv1.DeleteBlogRequest{ActorId: author, BlogId: post(0).GetBlogId()}))(t)
	w.expectRewards(author, 20, 4) // a reward outlives its entry
}

func TestARewardIsGrantedOnceForEachSource(t *testing.T) {
	t.Parallel()
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
		reply := must(w.Account.GrantReward(t.Context(), &accountv1.GrantRewardRequest{
			UserId: grant.user, Source: grant.source, Amount: grant.amount,
		}))(t)
		if amount := reply.GetAmount(); amount != grant.want {
			t.Errorf("%v granted %d", grant, amount)
		}
	}
	w.expectRewards(user, 15, 3)
	w.expectRewards(other, 1_000_000_000, 1)
}
