package rpc_test

import (
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	"github.com/waybook/waybook/standalone/app"
)

// expectRewarded checks that a user has count rewards of 10.
func (w *waybook) expectRewarded(when string, user, count int64) {
	w.t.Helper()
	reply := must(w.account.GetRewardTotal(w.t.Context(), &accountv1.GetRewardTotalRequest{UserId: user}))(w.t)
	if reply.GetTotal() != 10*count || reply.GetRewardCount() != count {
		w.t.Errorf("%s: a total of %d in %d rewards, want %d", when, reply.GetTotal(), reply.GetRewardCount(), count)
	}
}

// postRequest posts the n-th entry of a test.
func (w *waybook) postRequest(author int64, n int) error {
	request := newBlogRequest(author)
	request.RequestId = requestID(n)
	return failed(w.blog.CreateBlog(w.t.Context(), request))
}

func TestAnAuthorIsRewardedOnceForEachEntry(t *testing.T) {
	w := start(t)
	author, other := w.newUser("a"), w.newUser("b")
	w.expectRewarded("before", author, 0)
	got(t, 0, w.postRequest(author, 1))
	w.expectRewarded("after a post", author, 1)
	got(t, 0, w.postRequest(author, 1))
	w.expectRewarded("after a repetition", author, 1)
	parallel(t, 32, func(int) error { return w.postRequest(author, 2) })
	w.expectRewarded("after 32 concurrent posts of one entry", author, 2)
	parallel(t, 32, func(i int) error { return w.postRequest(author, 3+i) })
	w.expectRewarded("after 32 concurrent posts of other entries", author, 34)
	w.expectRewarded("for another user", other, 0)
}

func TestAnEntryBeyondTheDaysRewardsShowsNone(t *testing.T) {
	w := start(t, func(config *app.Config) { config.Account.RewardsPerDay = 2 })
	author := w.newUser("a")
	post := func(n int) *blogv1.Blog {
		request := newBlogRequest(author)
		request.RequestId = requestID(n)
		return must(w.blog.CreateBlog(t.Context(), request))(t).GetBlog()
	}
	for n, want := range []int64{10, 10, 0, 0} {
		for _, when := range []string{"when posted", "when repeated"} {
			posted := post(n)
			if posted.GetReward() != want {
				t.Errorf("entry %d shows a reward of %d %s, want %d", n, posted.GetReward(), when, want)
			}
			read := must(w.blog.GetBlog(t.Context(), &blogv1.GetBlogRequest{BlogId: posted.GetBlogId()}))(t)
			if read.GetBlog().GetReward() != want {
				t.Errorf("entry %d is read with %v", n, read)
			}
		}
	}
	w.expectRewards(author, 20, 4)
}

func TestARewardOutlivesItsEntry(t *testing.T) {
	w := start(t)
	author := w.newUser("a")
	request := &blogv1.DeleteBlogRequest{ActorId: author, BlogId: w.newBlog(author)}
	must(w.blog.DeleteBlog(t.Context(), request))(t)
	w.expectRewarded("after the deletion", author, 1)
}

func TestARewardThatFailedIsGrantedLater(t *testing.T) {
	p := startParts(t)
	author := p.newUser("a")
	p.sendAway(status.Error(codes.Unavailable, "connection refused"))
	got(t, 0, p.postRequest(author, 1))
	got(t, 0, p.postRequest(author, 2))
	deleted := p.newBlog(author)
	deletion := &blogv1.DeleteBlogRequest{ActorId: author, BlogId: deleted}
	expectFault(t, failed(p.blog.DeleteBlog(t.Context(), deletion)), codes.Unavailable, "SERVICE_UNAVAILABLE")
	p.expectRewarded("while granting fails", author, 0)

	p.sendAway(nil)
	got(t, 0, p.postRequest(author, 1))
	p.expectRewarded("after a repetition", author, 1)
	must(p.blog.DeleteBlog(t.Context(), deletion))(t)
	p.expectRewarded("after a deletion", author, 2)
	p.sweep()
	p.expectRewarded("after a sweep", author, 3)
	p.sweep()
	p.expectRewarded("after another sweep", author, 3)
}
