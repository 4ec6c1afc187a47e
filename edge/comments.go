package edge

import typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"

// comments: contract 2.3, for albums, blogs and landmarks alike.
var comments = list[*typev1.Comment]{"comments", "comment", func(out reply, comment *typev1.Comment) {
	out.moment("time", comment.GetCreateTime())
	out.text("commenterName", comment.GetAuthor().GetName())
	out.text("commenterIcon", comment.GetAuthor().GetIconUrl())
	out.text("comment", comment.GetText())
	if answer := comment.GetReply(); answer != nil {
		out.begin("authorReply")
		out.moment("time", answer.GetCreateTime())
		out.text("reply", answer.GetText())
		out.end("authorReply")
	}
}}
