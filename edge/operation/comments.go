package operation

import (
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/waybook/waybook/edge/form"
	"github.com/waybook/waybook/edge/reply"
	commentv1 "github.com/waybook/waybook/proto/gen/waybook/comment/v1"
	photov1 "github.com/waybook/waybook/proto/gen/waybook/photo/v1"
	recommendationv1 "github.com/waybook/waybook/proto/gen/waybook/recommendation/v1"
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

// content is what a comment, a photo or a recommendation belongs to: an album, an entry or a landmark. Its parameter selects
// the variant of an operation (rule 17.2).
type content struct {
	variant   Variant
	parameter *form.Parameter
	// field is the field of requests that names it.
	field string
}

// anyContent returns what comments and recommendations belong to, and withPhotos what photos belong to.
func anyContent() []content {
	const oneOf = "albumID, blogID or POIID"
	return []content{{OfAlbum, contentID("albumID", oneOf), "album_id"}, {OfBlog, contentID("blogID", oneOf), "blog_id"}, {OfPoi, contentID("POIID", oneOf), "poi_id"}}
}

func withPhotos() []content {
	const oneOf = "albumID or POIID"
	return []content{{OfAlbum, contentID("albumID", oneOf), "album_id"}, {OfPoi, contentID("POIID", oneOf), "poi_id"}}
}

func contentID(name, oneOf string) *form.Parameter {
	return &form.Parameter{Name: name, Hint: idHint, OneOf: oneOf, Syntax: form.IntegerSyntax}
}

// of returns an operation for each kind of content that it may be about.
func of[Request proto.Message, Response any](
	c *Config, contents []content, name string,
	build func(*Input, content) Request, call call[Request, Response], write func(reply.Writer, Response),
) (rows []Operation) {
	for _, each := range contents {
		build := func(in *Input) Request { return build(in, each) }
		rows = append(rows, Operation{name, each.variant, Writes, LoginNeeded, unary(c, build, call, write)})
	}
	return rows
}

// about reads the identifier of the content into a request, and returns the request.
func about[Request proto.Message](in *Input, of content, request Request) Request {
	message := request.ProtoReflect()
	id := required(in, of.parameter, of.field, form.ID)
	message.Set(message.Descriptor().Fields().ByName(protoreflect.Name(of.field)), protoreflect.ValueOfInt64(id))
	return request
}

// The functions below read the parameters of addComment, replyComment, removeComment, recommend and
// withdrawRecommendation (rules 17.9 to 17.12).

func addCommentRequest(in *Input, on content) *commentv1.AddCommentRequest {
	request := about(in, on, &commentv1.AddCommentRequest{RequestId: newRequestID(), AuthorId: int64(in.User)})
	request.Text = required(in, &paramComment, "text", form.Text)
	return request
}

func replyToCommentRequest(in *Input, on content) *commentv1.ReplyToCommentRequest {
	request := about(in, on, &commentv1.ReplyToCommentRequest{ActorId: int64(in.User)})
	request.CommentId = requiredCommentID(in)
	request.Text = required(in, &paramReply, "text", form.Text)
	return request
}

func removeCommentRequest(in *Input, on content) *commentv1.RemoveCommentRequest {
	request := about(in, on, &commentv1.RemoveCommentRequest{ActorId: int64(in.User)})
	request.CommentId = requiredCommentID(in)
	return request
}

func requiredCommentID(in *Input) int64 { return required(in, &paramCommentID, "comment_id", form.ID) }

// writeNewComment writes the reply of addComment (rule 17.9).
func writeNewComment(out reply.Writer, response *commentv1.AddCommentResponse) {
	out.ID("commentID", response.GetComment().GetCommentId(), "")
}

func recommendRequest(in *Input, of content) *recommendationv1.RecommendRequest {
	return about(in, of, &recommendationv1.RecommendRequest{UserId: int64(in.User)})
}

func withdrawRequest(in *Input, of content) *recommendationv1.WithdrawRequest {
	return about(in, of, &recommendationv1.WithdrawRequest{UserId: int64(in.User)})
}

// writeScore writes the number of recommendations as it is now.
func writeScore[Response interface{ GetScore() int64 }](out reply.Writer, response Response) {
	out.Integer("score", response.GetScore())
}

// The parameters of photos (rules 17.7 and 17.8). The addresses have the names that replies show.
var (
	paramThumbnail   = form.Parameter{Name: "thumbnail", Hint: "address of the image, 1 to 2000 bytes"}
	paramPhoto       = form.Parameter{Name: "photo", Hint: "address of the image, 1 to 2000 bytes"}
	paramDescription = form.Parameter{Name: "description", Hint: "at most 2000 characters"}
	paramPhotoID     = form.Parameter{Name: "photoID", Hint: idHint, Syntax: form.IntegerSyntax}
)

// addPhotoRequest reads the parameters of addPhoto (rule 17.7).
func addPhotoRequest(in *Input, to content) *photov1.AddPhotoRequest {
	request := about(in, to, &photov1.AddPhotoRequest{RequestId: newRequestID(), ActorId: int64(in.User)})
	address := &paramThumbnail
	if to.variant == OfPoi {
		address = &paramPhoto
	}
	request.Url = required(in, address, "url", form.Text)
	request.Description = form.Or(optional(in, &paramDescription, "description", form.Text), "")
	return request
}

// writeNewPhoto writes the reply of addPhoto (rule 17.7).
func writeNewPhoto(out reply.Writer, response *photov1.AddPhotoResponse) {
	out.ID("photoID", response.GetPhoto().GetPhotoId(), "")
}

// removePhotoRequest reads the parameters of removePhoto (rule 17.8).
func removePhotoRequest(in *Input, of content) *photov1.RemovePhotoRequest {
	request := about(in, of, &photov1.RemovePhotoRequest{ActorId: int64(in.User)})
	request.PhotoId = required(in, &paramPhotoID, "photo_id", form.ID)
	return request
}
