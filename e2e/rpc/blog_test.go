package rpc_test

import (
	"context"
	"testing"

	"google.golang.org/grpc/codes"

	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
)

func TestAnEntryCanQuoteOnlyAnExistingEntry(t *testing.T) {
	t.Parallel()
	w := start(t)
	author := w.newUser("a")
	id := w.newBlog(author)
	request := newBlogRequest(author)
	request.ReplyBlogId = 1
	expectFault(t, failed(w.Blog.CreateBlog(t.Context(), request)), codes.InvalidArgument, "QUOTED_BLOG_NOT_FOUND", "reply_blog_id")
	for _, quoted := range []int64{1, id} { // an entry does not quote itself (rule 7.30)
		update := &blogv1.UpdateBlogRequest{ActorId: author, BlogId: id, ReplyBlogId: &quoted}
		expectFault(t, failed(w.Blog.UpdateBlog(t.Context(), update)), codes.InvalidArgument, "QUOTED_BLOG_NOT_FOUND", "reply_blog_id")
		update.ActorId = w.newUser("b")
		expectFailures(t, []failure{{"UpdateBlog of another's entry", calling(w.Blog.UpdateBlog, update), codes.PermissionDenied, "NOT_OWNER"}})
	}
	request.RequestId, request.ReplyBlogId = requestID(1), id
	quoting := must(w.Blog.CreateBlog(t.Context(), request))(t).GetBlog()
	must(w.Blog.DeleteBlog(t.Context(), &blogv1.DeleteBlogRequest{ActorId: author, BlogId: id}))(t)
	again := must(w.Blog.CreateBlog(t.Context(), request))(t).GetBlog()
	if b := w.getBlog(again.GetBlogId()).GetBlog(); b.GetBlogId() != quoting.GetBlogId() || b.GetReplyBlogId() != id {
		t.Errorf("deleting the quoted entry changed %v", b)
	}
}

func TestVotingFailsAsTheContractSays(t *testing.T) {
	t.Parallel()
	w, ctx := start(t), t.Context()
	author, other := w.newUser("a"), w.newUser("b")
	id, elsewhere := w.newBlog(author), w.newBlog(author)
	plain := newBlogRequest(author)
	plain.Vote = nil
	voteless := must(w.Blog.CreateBlog(ctx, plain))(t).GetBlog().GetBlogId()
	must(w.Blog.CastBallot(ctx, &blogv1.CastBallotRequest{VoterId: other, BlogId: elsewhere, Choice: 1}))(t)
	cast := func(voter, blog int64, choice int32) func(context.Context) error {
		return calling(w.Blog.CastBallot, &blogv1.CastBallotRequest{VoterId: voter, BlogId: blog, Choice: choice})
	}
	expectFailures(t, []failure{
		{"CastBallot on an unknown entry", cast(other, 1, 1), codes.NotFound, "BLOG_NOT_FOUND"},
		{"CastBallot without a vote", cast(other, voteless, 1), codes.NotFound, "VOTE_NOT_FOUND"},
		{"CastBallot for an unknown choice", cast(other, id, 4), codes.NotFound, "CHOICE_NOT_FOUND"},
		{"CastBallot by an unknown user", cast(1, id, 1), codes.NotFound, "USER_NOT_FOUND"},
		{"CastBallot for another choice", cast(other, elsewhere, 2), codes.AlreadyExists, "ALREADY_VOTED"},
		{"ListBallots of an unknown entry", calling(w.Blog.ListBallots, &blogv1.ListBallotsRequest{BlogId: 1}), codes.NotFound, "BLOG_NOT_FOUND"},
		{"ListBallots without a vote", calling(w.Blog.ListBallots, &blogv1.ListBallotsRequest{BlogId: voteless}), codes.NotFound, "VOTE_NOT_FOUND"},
	})
}
