package operation

import (
	"github.com/waybook/waybook/edge/form"
	"github.com/waybook/waybook/edge/reply"
	commentv1 "github.com/waybook/waybook/proto/gen/waybook/comment/v1"
)

// addComment adds a comment to content (rule 17.9).
func addComment(c *Config) Function {
	return Function{
		Name: "addComment", Rule: "17.9", Title: form.Title{"Add a comment", "新增留言"}, Effect: Writes, IsAddition: true,
		Operations: of(c, anyContent, func(in *Input, on content) *commentv1.AddCommentRequest {
			request := about(in, on, &commentv1.AddCommentRequest{RequestId: newRequestID(), AuthorId: int64(in.User)})
			request.Text = required(in, &paramComment, "text", form.Text)
			return request
		}, c.Comment.AddComment, func(out reply.Writer, response *commentv1.AddCommentResponse) {
			out.ID("commentID", response.GetComment().GetCommentId(), "")
		}),
	}
}

var paramComment = form.Parameter{Name: "comment", Title: form.Title{"Comment", "留言"}, Hint: "1 to 2000 characters"}

// replyComment replies to a comment for the owner of the content (rule 17.10).
func replyComment(c *Config) Function {
	return Function{
		Name: "replyComment", Rule: "17.10", Title: form.Title{"Reply to a comment", "回覆留言"}, Effect: Writes, IsAddition: true,
		Operations: of(c, anyContent, func(in *Input, on content) *commentv1.ReplyToCommentRequest {
			request := about(in, on, &commentv1.ReplyToCommentRequest{ActorId: int64(in.User)})
			request.CommentId = required(in, &paramCommentID, "comment_id", form.ID)
			request.Text = required(in, &paramReply, "text", form.Text)
			return request
		}, c.Comment.ReplyToComment, writeNothing),
	}
}

var (
	paramCommentID = form.Parameter{Name: "commentID", Title: paramComment.Title, Hint: idHint, Syntax: form.IntegerSyntax}
	paramReply     = form.Parameter{Name: "reply", Title: form.Title{"Reply", "回覆"}, Hint: paramComment.Hint}
)

// removeComment removes a comment (rule 17.11).
func removeComment(c *Config) Function {
	return Function{
		Name: "removeComment", Rule: "17.11", Title: form.Title{"Remove a comment", "移除留言"}, Effect: Writes, IsAddition: true,
		Operations: of(c, anyContent, func(in *Input, on content) *commentv1.RemoveCommentRequest {
			request := about(in, on, &commentv1.RemoveCommentRequest{ActorId: int64(in.User)})
			request.CommentId = required(in, &paramCommentID, "comment_id", form.ID)
			return request
		}, c.Comment.RemoveComment, writeNothing),
	}
}
