package operation

import (
	"github.com/waybook/waybook/edge/reply"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// comments writes the comments of albums, blogs and landmarks (rules 4.12 to 4.14).
var comments = reply.List[*typev1.Comment]{Name: "comments", Item: "comment", WriteItem: writeComment}

// commentsWithIDs also has what replyComment and removeComment take, and who wrote each comment
// (rule 17.15).
var commentsWithIDs = reply.List[*typev1.Comment]{Name: "comments", Item: "comment", WriteItem: func(out reply.Writer, comment *typev1.Comment) {
	out.ID("commentID", comment.GetCommentId(), comment.GetOldId())
	out.Integer("commenterID", comment.GetAuthor().GetUserId())
	writeComment(out, comment)
}}

func writeComment(out reply.Writer, comment *typev1.Comment) {
	out.Moment("time", comment.GetCreateTime().AsTime())
	out.Text("commenterName", comment.GetAuthor().GetName())
	out.Text("commenterIcon", comment.GetAuthor().GetIconUrl())
	out.Text("comment", comment.GetText())
	if answer := comment.GetReply(); answer != nil {
		out.Begin("authorReply")
		out.Moment("time", answer.GetCreateTime().AsTime())
		out.Text("reply", answer.GetText())
		out.End("authorReply")
	}
}
