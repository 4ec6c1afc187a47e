package operation

import (
	"context"

	"github.com/waybook/waybook/edge/form"
	"github.com/waybook/waybook/edge/reply"
	commentv1 "github.com/waybook/waybook/proto/gen/waybook/comment/v1"
)

// removeCommentsByUser removes the comments of another user for the owner of the content (rule
// 17.36).
func removeCommentsByUser(c *Config) Function {
	f := Function{
		Name: "removeCommentsByUser", Rule: "17.36", Title: form.Title{"Remove a user’s comments", "移除使用者的留言"},
		Effect: Writes, IsAddition: true,
	}
	for _, each := range anyContent {
		f.Operations = append(f.Operations, Operation{Variant: each.variant, handler: removeAllBy(c, each)})
	}
	return f
}

func removeAllBy(c *Config, on content) handler {
	build := func(in *Input) *commentv1.RemoveCommentsByAuthorRequest {
		request := about(in, on, &commentv1.RemoveCommentsByAuthorRequest{ActorId: int64(in.User)})
		request.AuthorId = required(in, &paramUserID, "author_id", form.ID)
		return request
	}
	return handler{asMessage(build), func(ctx context.Context, x *Exchange) error {
		request, err := built(ctx, c, &x.In, build)
		if err != nil {
			return err
		}
		removed, hasMore := int64(0), true
		for hasMore { // a call removes some of them
			callCtx, end := c.callContext(ctx)
			response, err := c.Comment.RemoveCommentsByAuthor(callCtx, request)
			end()
			if err != nil {
				return err
			}
			removed, hasMore = removed+int64(response.GetRemovedCount()), response.GetHasMore()
		}
		reply.StartSuccess(x.Out.Writer)
		x.Out.Integer("removed", removed)
		x.Out.Finish()
		return nil
	}}
}
