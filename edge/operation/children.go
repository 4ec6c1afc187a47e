package operation

import (
	"context"

	"github.com/waybook/waybook/edge/form"
	"github.com/waybook/waybook/edge/reply"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	commentv1 "github.com/waybook/waybook/proto/gen/waybook/comment/v1"
	photov1 "github.com/waybook/waybook/proto/gen/waybook/photo/v1"
	recommendationv1 "github.com/waybook/waybook/proto/gen/waybook/recommendation/v1"
)

// addPhoto adds a photo to an album or a landmark of the user: an address (rule 17.7) or a file
// (rule 17.23).
func addPhoto(c *Config) Function {
	operations := of(c, withPhotos, func(in *Input, to content) *photov1.AddPhotoRequest {
		request := about(in, to, &photov1.AddPhotoRequest{ActorId: int64(in.User)})
		address := &paramThumbnail
		if to.variant == OfPoi {
			address = &paramPhoto
		}
		request.Url = required(in, address, "url", form.Text)
		request.Description = form.Or(optional(in, &paramDescription, "description", form.Text), "")
		request.RequestId = requestID(in)
		return request
	}, c.Photo.AddPhoto, func(out reply.Writer, response *photov1.AddPhotoResponse) { writePhotoID(out, response) })
	for i, to := range withPhotos {
		add := operations[i].Run
		operations[i].Run = func(ctx context.Context, x *Exchange) error {
			if x.In.File != nil {
				return c.upload(ctx, x, to)
			}
			return add(ctx, x)
		}
	}
	return Function{
		Name: "addPhoto", Rule: "17.7", Title: form.Title{"Add a photo", "新增相片"}, Effect: Writes, IsAddition: true,
		File: paramPhoto.Name, Operations: operations,
	}
}

// The addresses of photos have the names that replies show.
var (
	paramThumbnail = form.Parameter{Name: "thumbnail", Title: form.Title{"Address of the small image", "縮圖位址"},
		Hint: addressHint}
	paramPhoto = form.Parameter{Name: "photo", Title: form.Title{"Address of the image", "圖片位址"},
		Hint: addressHint}
	paramDescription = form.Parameter{Name: "description", Title: form.Title{"Description", "說明"},
		Hint: "at most 2000 characters"}
)

const addressHint = "address of the image, 1 to 2000 bytes"

// removePhoto removes a photo (rule 17.8).
func removePhoto(c *Config) Function {
	return Function{
		Name: "removePhoto", Rule: "17.8", Title: form.Title{"Remove a photo", "移除相片"}, Effect: Writes,
		IsAddition: true,
		Operations: of(c, withPhotos, func(in *Input, of content) *photov1.RemovePhotoRequest {
			request := about(in, of, &photov1.RemovePhotoRequest{ActorId: int64(in.User)})
			request.PhotoId = required(in, &paramPhotoID, "photo_id", form.ID)
			return request
		}, c.Photo.RemovePhoto, writeNothing),
	}
}

var paramPhotoID = form.Parameter{Name: "photoID", Title: form.Title{"Photo", "相片"}, Hint: idHint,
	Syntax: form.IntegerSyntax}

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
		Name: "replyComment", Rule: "17.10", Title: form.Title{"Reply to a comment", "回覆留言"}, Effect: Writes,
		IsAddition: true,
		Operations: of(c, anyContent, func(in *Input, on content) *commentv1.ReplyToCommentRequest {
			request := about(in, on, &commentv1.ReplyToCommentRequest{ActorId: int64(in.User)})
			request.CommentId = required(in, &paramCommentID, "comment_id", form.ID)
			request.Text = required(in, &paramReply, "text", form.Text)
			return request
		}, c.Comment.ReplyToComment, writeNothing),
	}
}

var (
	paramCommentID = form.Parameter{Name: "commentID", Title: paramComment.Title, Hint: idHint,
		Syntax: form.IntegerSyntax}
	paramReply = form.Parameter{Name: "reply", Title: form.Title{"Reply", "回覆"}, Hint: paramComment.Hint}
)

// removeComment removes a comment (rule 17.11).
func removeComment(c *Config) Function {
	return Function{
		Name: "removeComment", Rule: "17.11", Title: form.Title{"Remove a comment", "移除留言"}, Effect: Writes,
		IsAddition: true,
		Operations: of(c, anyContent, func(in *Input, on content) *commentv1.RemoveCommentRequest {
			request := about(in, on, &commentv1.RemoveCommentRequest{ActorId: int64(in.User)})
			request.CommentId = required(in, &paramCommentID, "comment_id", form.ID)
			return request
		}, c.Comment.RemoveComment, writeNothing),
	}
}

// recommend recommends content for the user (rule 17.12).
func recommend(c *Config) Function {
	return Function{
		Name: "recommend", Rule: "17.12", Title: form.Title{"Recommend", "推薦"}, Effect: Writes, IsAddition: true,
		Operations: of(c, anyContent, func(in *Input, of content) *recommendationv1.RecommendRequest {
			return about(in, of, &recommendationv1.RecommendRequest{UserId: int64(in.User)})
		}, c.Recommendation.Recommend, writeScore),
	}
}

// withdrawRecommendation takes the user's recommendation back (rule 17.12).
func withdrawRecommendation(c *Config) Function {
	return Function{
		Name: "withdrawRecommendation", Rule: "17.12", Title: form.Title{"Withdraw a recommendation", "收回推薦"},
		Effect: Writes, IsAddition: true,
		Operations: of(c, anyContent, func(in *Input, of content) *recommendationv1.WithdrawRequest {
			return about(in, of, &recommendationv1.WithdrawRequest{UserId: int64(in.User)})
		}, c.Recommendation.Withdraw, writeScore),
	}
}

// writeScore writes the number of recommendations as it is now.
func writeScore[Response interface{ GetScore() int64 }](out reply.Writer, response Response) {
	out.Integer("score", response.GetScore())
}

// castVote casts the ballot of the user in the vote of an entry (rule 17.14).
func castVote(c *Config) Function {
	return Function{
		Name: "castVote", Rule: "17.14", Title: form.Title{"Vote", "投票"}, Effect: Writes, IsAddition: true,
		Operations: only(unary(c, func(in *Input) *blogv1.CastBallotRequest {
			return &blogv1.CastBallotRequest{
				VoterId: int64(in.User),
				BlogId:  required(in, &paramBlogID, "blog_id", form.ID),
				Choice:  required(in, &paramChoice, "choice", form.Int32),
			}
		}, c.Blog.CastBallot, func(out reply.Writer, response *blogv1.CastBallotResponse) {
			writeVote(out, response.GetVote())
		})),
	}
}

var paramChoice = form.Parameter{Name: "choice", Title: form.Title{"Choice", "選項"}, Hint: "1 to 20, a position",
	Syntax: form.IntegerSyntax}

// writeVote writes a vote (rule 7.20). It writes all choices at once, because there are few.
func writeVote(out reply.Writer, vote *blogv1.Vote) {
	out.Begin("vote")
	out.Text("description", vote.GetDescription())
	out.BeginList("choices")
	for i, choice := range vote.GetChoices() {
		out.BeginItem("choice", i+1)
		out.Text("description", choice.GetDescription())
		out.Integer("votes", choice.GetVotes())
		out.EndItem("choice", i+1)
	}
	out.EndList("choices")
	out.End("vote")
}
