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

func TestARewardOutlivesItsEntry(t *testing.T) {
	onEachEngine(t, func(t *testing.T, p *parts) {
		author := p.newUser("a")
		granted := p.newBlog(author)
		p.Sweep()
		p.expectRewards(author, 10, 1)
		due := p.newBlog(author)
		for _, id := range []int64{granted, due} {
			must(p.Blog.DeleteBlog(t.Context(), &blogv1.DeleteBlogRequest{ActorId: author, BlogId: id}))(t)
		}
		p.expectRewards(author, 20, 2)
		p.Sweep()
		p.expectRewards(author, 20, 2)
	})
}

func TestARewardIsGrantedOnceForEachSource(t *testing.T) {
	t.Parallel()
	w := start(t)
	user, other := w.newUser("a"), w.newUser("b")
	w.expectRewards(user, 0, 0)
	for _, grants := range [][]*accountv1.Grant{
		{{UserId: user, Source: "blog/1", Amount: 10}},
		{{UserId: user, Source: "blog/1", Amount: 99}, {UserId: user, Source: "blog/2", Amount: 5}},
		{
			{UserId: user, Source: "photo/1", Amount: 0},
			{UserId: user, Source: "photo/1", Amount: 7},
			{UserId: other, Source: "blog/1", Amount: 1_000_000_000},
			{UserId: 1, Source: "blog/1", Amount: 1}, // nobody
		},
	} {
		must(w.Account.GrantRewards(t.Context(), &accountv1.GrantRewardsRequest{Grants: grants}))(t)
	}
	w.expectRewards(user, 15, 3)
	w.expectRewards(other, 1_000_000_000, 1)
}
