package operation

import (
	"github.com/waybook/waybook/edge/form"
	"github.com/waybook/waybook/edge/reply"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	commentv1 "github.com/waybook/waybook/proto/gen/waybook/comment/v1"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
)

// ids says whether a reply has the identifiers of photos, comments and users, which are an addition.
type ids int

const (
	withoutIDs ids = iota
	withIDs
)

// comments writes the comments of albums, blogs and landmarks (rules 4.12 to 4.14). Their identifiers
// are what replyComment and removeComment take, and who wrote each comment (rule 17.15).
func comments(ids ids) reply.List[*commentv1.Comment] {
	return reply.List[*commentv1.Comment]{Name: "comments", Item: "comment", WriteItem: func(out reply.Writer, comment *commentv1.Comment) {
		if ids == withIDs {
			out.ID("commentID", comment.GetCommentId(), comment.GetOldId())
			out.Integer("commenterID", comment.GetAuthor().GetUserId())
		}
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
	}}
}

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
func writeNewComment[Response interface{ GetComment() *commentv1.Comment }](out reply.Writer, response Response) {
	out.ID("commentID", response.GetComment().GetCommentId(), "")
}

// The functions below read the parameters of recommend and withdrawRecommendation for each kind of
// content (rule 17.12).

func recommendAlbumRequest(in *Input) *albumv1.RecommendRequest {
	return &albumv1.RecommendRequest{UserId: int64(in.User), AlbumId: ofAlbum(in)}
}

func withdrawAlbumRequest(in *Input) *albumv1.WithdrawRecommendationRequest {
	return &albumv1.WithdrawRecommendationRequest{UserId: int64(in.User), AlbumId: ofAlbum(in)}
}

func recommendBlogRequest(in *Input) *blogv1.RecommendRequest {
	return &blogv1.RecommendRequest{UserId: int64(in.User), BlogId: ofBlog(in)}
}

func withdrawBlogRequest(in *Input) *blogv1.WithdrawRecommendationRequest {
	return &blogv1.WithdrawRecommendationRequest{UserId: int64(in.User), BlogId: ofBlog(in)}
}

func recommendPoiRequest(in *Input) *poiv1.RecommendRequest {
	return &poiv1.RecommendRequest{UserId: int64(in.User), PoiId: ofPoi(in)}
}

func withdrawPoiRequest(in *Input) *poiv1.WithdrawRecommendationRequest {
	return &poiv1.WithdrawRecommendationRequest{UserId: int64(in.User), PoiId: ofPoi(in)}
}

// writeScore writes the number of recommendations as it is now.
func writeScore[Response interface{ GetScore() int64 }](out reply.Writer, response Response) {
	out.Integer("score", response.GetScore())
}

// The parameters that name the content to which a photo, comment or recommendation belongs. One
// of them selects the operation (rule 17.2).
var (
	paramOfAlbum = form.Parameter{Name: "albumID", Hint: idHint, OneOf: anyContent, Syntax: form.IntegerSyntax}
	paramOfBlog  = form.Parameter{Name: "blogID", Hint: idHint, OneOf: anyContent, Syntax: form.IntegerSyntax}
	paramOfPoi   = form.Parameter{Name: "POIID", Hint: idHint, OneOf: anyContent, Syntax: form.IntegerSyntax}
)

const anyContent = "albumID, blogID or POIID"

// Entries have no photos.
var (
	paramPhotoOfAlbum = form.Parameter{Name: "albumID", Hint: idHint, OneOf: anyWithPhotos, Syntax: form.IntegerSyntax}
	paramPhotoOfPoi   = form.Parameter{Name: "POIID", Hint: idHint, OneOf: anyWithPhotos, Syntax: form.IntegerSyntax}
)

const anyWithPhotos = "albumID or POIID"

// ofAlbum, ofBlog and ofPoi read the identifier of the content.
func ofAlbum(in *Input) int64 { return required(in, &paramOfAlbum, "album_id", form.ID) }
func ofBlog(in *Input) int64  { return required(in, &paramOfBlog, "blog_id", form.ID) }
func ofPoi(in *Input) int64   { return required(in, &paramOfPoi, "poi_id", form.ID) }

// The parameters of photos (rules 17.7 and 17.8). The addresses have the names that replies show.
var (
	paramThumbnail   = form.Parameter{Name: "thumbnail", Hint: "address of the image, 1 to 2000 bytes"}
	paramPhoto       = form.Parameter{Name: "photo", Hint: "address of the image, 1 to 2000 bytes"}
	paramDescription = form.Parameter{Name: "description", Hint: "at most 2000 characters"}
	paramPhotoID     = form.Parameter{Name: "photoID", Hint: idHint, Syntax: form.IntegerSyntax}
)

// addAlbumPhotoRequest reads the parameters of addPhoto for an album.
func addAlbumPhotoRequest(in *Input) *albumv1.AddPhotoRequest {
	return &albumv1.AddPhotoRequest{
		RequestId: newRequestID(), ActorId: int64(in.User),
		AlbumId:      required(in, &paramPhotoOfAlbum, "album_id", form.ID),
		ThumbnailUrl: required(in, &paramThumbnail, "thumbnail_url", form.Text),
		Description:  optionalDescription(in),
	}
}

// addPoiPhotoRequest reads the parameters of addPhoto for a landmark.
func addPoiPhotoRequest(in *Input) *poiv1.AddPhotoRequest {
	return &poiv1.AddPhotoRequest{
		RequestId: newRequestID(), ActorId: int64(in.User),
		PoiId:       required(in, &paramPhotoOfPoi, "poi_id", form.ID),
		PhotoUrl:    required(in, &paramPhoto, "photo_url", form.Text),
		Description: optionalDescription(in),
	}
}

func optionalDescription(in *Input) string {
	return form.Or(optional(in, &paramDescription, "description", form.Text), "")
}

// writeNewPhoto writes the reply of addPhoto (rule 17.7).
func writeNewPhoto[Photo interface{ GetPhotoId() int64 }, Response interface{ GetPhoto() Photo }](out reply.Writer, response Response) {
	out.ID("photoID", response.GetPhoto().GetPhotoId(), "")
}

// removeAlbumPhotoRequest reads the parameters of removePhoto for an album.
func removeAlbumPhotoRequest(in *Input) *albumv1.RemovePhotoRequest {
	return &albumv1.RemovePhotoRequest{
		ActorId: int64(in.User),
		AlbumId: required(in, &paramPhotoOfAlbum, "album_id", form.ID),
		PhotoId: required(in, &paramPhotoID, "photo_id", form.ID),
	}
}

// removePoiPhotoRequest reads the parameters of removePhoto for a landmark.
func removePoiPhotoRequest(in *Input) *poiv1.RemovePhotoRequest {
	return &poiv1.RemovePhotoRequest{
		ActorId: int64(in.User),
		PoiId:   required(in, &paramPhotoOfPoi, "poi_id", form.ID),
		PhotoId: required(in, &paramPhotoID, "photo_id", form.ID),
	}
}
