package cli

import (
	"context"

	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// entries implements content for the blog service.
type entries struct{}

func (entries) owner(ctx context.Context, call *services, id int64) (int64, error) {
	found, err := call.blog.GetBlog(ctx, &blogv1.GetBlogRequest{BlogId: id})
	return found.GetBlog().GetAuthor().GetUserId(), err
}

func (entries) delete(ctx context.Context, call *services, actor, id int64) error {
	_, err := call.blog.DeleteBlog(ctx, &blogv1.DeleteBlogRequest{ActorId: actor, BlogId: id})
	return err
}

func (entries) recommend(ctx context.Context, call *services, user, id int64) (int64, error) {
	done, err := call.blog.Recommend(ctx, &blogv1.RecommendRequest{UserId: user, BlogId: id})
	return done.GetScore(), err
}

func (entries) withdraw(ctx context.Context, call *services, user, id int64) (int64, error) {
	done, err := call.blog.WithdrawRecommendation(ctx, &blogv1.WithdrawRecommendationRequest{UserId: user, BlogId: id})
	return done.GetScore(), err
}

func (entries) comments(ctx context.Context, call *services, id int64, page pageOf) ([]*typev1.Comment, string, error) {
	listed, err := call.blog.ListComments(ctx, &blogv1.ListCommentsRequest{BlogId: id, PageSize: page.size, PageToken: page.token})
	return listed.GetComments(), listed.GetNextPageToken(), err
}

func (entries) addComment(ctx context.Context, call *services, author, id int64, text string) (*typev1.Comment, error) {
	added, err := call.blog.AddComment(ctx, &blogv1.AddCommentRequest{AuthorId: author, BlogId: id, Text: text})
	return added.GetComment(), err
}

func (entries) reply(ctx context.Context, call *services, actor, id, comment int64, text string) (*typev1.Comment, error) {
	answered, err := call.blog.ReplyToComment(ctx, &blogv1.ReplyToCommentRequest{
		ActorId: actor, BlogId: id, CommentId: comment, Text: text,
	})
	return answered.GetComment(), err
}

func (entries) removeComment(ctx context.Context, call *services, actor, id, comment int64) error {
	_, err := call.blog.RemoveComment(ctx, &blogv1.RemoveCommentRequest{ActorId: actor, BlogId: id, CommentId: comment})
	return err
}
