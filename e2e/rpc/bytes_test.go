package rpc_test

import (
	"context"
	"strings"
	"testing"

	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
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
			return failed(p.Blog.Recommend(ctx, &blogv1.RecommendRequest{UserId: reader, BlogId: blog}))
		},
		"CastBallot": func(ctx context.Context) error {
			return failed(p.Blog.CastBallot(ctx, &blogv1.CastBallotRequest{VoterId: reader, BlogId: blog, Choice: 1}))
		},
		"AddComment": func(ctx context.Context) error {
			return failed(p.Blog.AddComment(ctx, &blogv1.AddCommentRequest{AuthorId: reader, BlogId: blog, Text: "好"}))
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
