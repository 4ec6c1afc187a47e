package rpc_test

import (
	"context"
	"strings"
	"testing"

	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	commentv1 "github.com/waybook/waybook/proto/gen/waybook/comment/v1"
	recommendationv1 "github.com/waybook/waybook/proto/gen/waybook/recommendation/v1"
)

func TestASmallChangeOfALargeEntryIsASmallWriteOnMongoDB(t *testing.T) {
	t.Parallel()
	p, server := startOnPrimary(t)
	author, reader := p.newUser("a"), p.newUser("b")
	request := newBlogRequest(author)
	request.Content = strings.Repeat("長", 100_000)
	blog := must(p.Blog.CreateBlog(t.Context(), request))(t).GetBlog().GetBlogId()
	for name, call := range map[string]func(context.Context) error{
		"Recommend": func(ctx context.Context) error {
			return failed(p.Recommendation.Recommend(ctx, &recommendationv1.RecommendRequest{UserId: reader, Parent: &recommendationv1.RecommendRequest_BlogId{BlogId: blog}}))
		},
		"CastBallot": func(ctx context.Context) error {
			return failed(p.Blog.CastBallot(ctx, &blogv1.CastBallotRequest{VoterId: reader, BlogId: blog, Choice: 1}))
		},
		"AddComment": func(ctx context.Context) error {
			return failed(p.Comment.AddComment(ctx, &commentv1.AddCommentRequest{AuthorId: reader, Parent: &commentv1.AddCommentRequest_BlogId{BlogId: blog}, Text: "好"}))
		},
	} {
		mark := server.Mark()
		if err := call(t.Context()); err != nil {
			t.Fatal(name, err)
		}
		sent := 0
		commands, complete := server.Since(mark)
		for _, command := range commands {
			sent += command.Size
		}
		if !complete || sent > 16<<10 {
			t.Errorf("%s sent %d bytes to the server", name, sent)
		}
	}
}
