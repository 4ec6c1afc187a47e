package operation

import (
	"github.com/waybook/waybook/edge/form"
	"github.com/waybook/waybook/edge/reply"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// The parameters of comments (rules 17.9 to 17.11).
var (
	paramComment   = form.Parameter{Name: "comment", Hint: "1 to 2000 characters"}
	paramReply     = form.Parameter{Name: "reply", Hint: "1 to 2000 characters"}
	paramCommentID = form.Parameter{Name: "commentID", Hint: idHint, Syntax: form.IntegerSyntax}
)

// The functions below read the parameters of addComment, replyComment and removeComment for each
// kind of content.

func addAlbumCommentRequest(in *Input) *albumv1.AddCommentRequest {
	return &albumv1.AddCommentRequest{
		RequestId: newRequestID(), AuthorId: int64(in.User), AlbumId: ofAlbum(in),
		Text: required(in, &paramComment, "text", form.Text),
	}
}

func replyAlbumCommentRequest(in *Input) *albumv1.ReplyToCommentRequest {
	return &albumv1.ReplyToCommentRequest{
		ActorId: int64(in.User), AlbumId: ofAlbum(in), CommentId: requiredCommentID(in),
		Text: required(in, &paramReply, "text", form.Text),
	}
}

func removeAlbumCommentRequest(in *Input) *albumv1.RemoveCommentRequest {
	return &albumv1.RemoveCommentRequest{ActorId: int64(in.User), AlbumId: ofAlbum(in), CommentId: requiredCommentID(in)}
}

func addBlogCommentRequest(in *Input) *blogv1.AddCommentRequest {
	return &blogv1.AddCommentRequest{
		RequestId: newRequestID(), AuthorId: int64(in.User), BlogId: ofBlog(in),
		Text: required(in, &paramComment, "text", form.Text),
	}
}

func replyBlogCommentRequest(in *Input) *blogv1.ReplyToCommentRequest {
	return &blogv1.ReplyToCommentRequest{
		ActorId: int64(in.User), BlogId: ofBlog(in), CommentId: requiredCommentID(in),
		Text: required(in, &paramReply, "text", form.Text),
	}
}

func removeBlogCommentRequest(in *Input) *blogv1.RemoveCommentRequest {
	return &blogv1.RemoveCommentRequest{ActorId: int64(in.User), BlogId: ofBlog(in), CommentId: requiredCommentID(in)}
}

func addPoiCommentRequest(in *Input) *poiv1.AddCommentRequest {
	return &poiv1.AddCommentRequest{
		RequestId: newRequestID(), AuthorId: int64(in.User), PoiId: ofPoi(in),
		Text: required(in, &paramComment, "text", form.Text),
	}
}

func replyPoiCommentRequest(in *Input) *poiv1.ReplyToCommentRequest {
	return &poiv1.ReplyToCommentRequest{
		ActorId: int64(in.User), PoiId: ofPoi(in), CommentId: requiredCommentID(in),
		Text: required(in, &paramReply, "text", form.Text),
	}
}

func removePoiCommentRequest(in *Input) *poiv1.RemoveCommentRequest {
	return &poiv1.RemoveCommentRequest{ActorId: int64(in.User), PoiId: ofPoi(in), CommentId: requiredCommentID(in)}
}

func requiredCommentID(in *Input) int64 { return required(in, &paramCommentID, "comment_id", form.ID) }

// writeNewComment writes the reply of addComment (rule 17.9).
func writeNewComment[Response interface{ GetComment() *typev1.Comment }](out reply.Writer, response Response) {
	out.Integer("commentID", response.GetComment().GetCommentId())
}
