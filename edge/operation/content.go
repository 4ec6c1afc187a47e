package operation

import (
	"context"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/waybook/waybook/edge/form"
	"github.com/waybook/waybook/edge/reply"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	commentv1 "github.com/waybook/waybook/proto/gen/waybook/comment/v1"
	photov1 "github.com/waybook/waybook/proto/gen/waybook/photo/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// withAndWithoutIDs returns the operations that read content. With WithIDs, a reply has the
// identifiers of photos, comments and users, which are an addition (rule 17.15).
func withAndWithoutIDs[Request proto.Message, Response any](
	c *Config, build func(*Input) Request, call call[Request, Response],
	write func(Variant) func(context.Context, *Config, *reply.Reply, Response) error,
) []Operation {
	return []Operation{
		{handler: paged(c, build, call, write(AsWritten))},
		{Variant: WithIDs, handler: paged(c, build, call, write(WithIDs))},
	}
}

// content is what a comment, a photo or a recommendation belongs to: an album, an entry or a
// landmark. Its parameter selects the variant of an operation (rule 17.2).
type content struct {
	variant   Variant
	parameter *form.Parameter
	// field is the field of requests that names it.
	field string
}

// anyContent is what comments and recommendations belong to, and withPhotos what photos belong to.
var (
	anyContent = oneOf("albumID, blogID or POIID", OfAlbum, OfBlog, OfPoi)
	withPhotos = oneOf("albumID or POIID", OfAlbum, OfPoi)
)

func oneOf(names string, variants ...Variant) (contents []content) {
	fields := map[Variant]string{OfAlbum: "album_id", OfBlog: "blog_id", OfPoi: "poi_id"}
	for _, each := range variants {
		p := *selectors[each].parameter
		p.OneOf = names
		contents = append(contents, content{each, &p, fields[each]})
	}
	return contents
}

// of returns an operation for each kind of content that it may be about.
func of[Request proto.Message, Response any](
	c *Config, contents []content, build func(*Input, content) Request, call call[Request, Response],
	write func(reply.Writer, Response),
) (operations []Operation) {
	for _, each := range contents {
		build := func(in *Input) Request { return build(in, each) }
		operations = append(operations, Operation{Variant: each.variant, handler: unary(c, build, call, write)})
	}
	return operations
}

// about reads the identifier of the content into a request, and returns the request.
func about[Request proto.Message](in *Input, of content, request Request) Request {
	contentID{of.field, required(in, of.parameter, of.field, form.ID)}.setIn(request)
	return request
}

// contentID is the identifier of content, and the field of requests that names it.
type contentID struct {
	field string
	id    int64
}

func (of contentID) setIn(request proto.Message) {
	message := request.ProtoReflect()
	message.Set(message.Descriptor().Fields().ByName(protoreflect.Name(of.field)), protoreflect.ValueOfInt64(of.id))
}

// writePhotos writes the photos of content: those that came with it, and those of further pages.
func writePhotos(
	ctx context.Context, c *Config, out *reply.Reply, list reply.List[*photov1.Photo], of contentID,
	first []*photov1.Photo, token string,
) error {
	return writePages(ctx, c, out, list, first, token, c.Photo.ListPhotos, (*photov1.ListPhotosResponse).GetPhotos, of)
}

// writeComments writes the comments of content, as writePhotos does.
func writeComments(
	ctx context.Context, c *Config, out *reply.Reply, list reply.List[*commentv1.Comment], of contentID,
	first []*commentv1.Comment, token string,
) error {
	return writePages(ctx, c, out, list, first, token, c.Comment.ListComments,
		(*commentv1.ListCommentsResponse).GetComments, of)
}

// comments writes the comments of albums, blogs and landmarks (rules 4.12 to 4.14). Their
// identifiers are what replyComment and removeComment take, and who wrote each comment.
func comments(variant Variant) reply.List[*commentv1.Comment] {
	return reply.List[*commentv1.Comment]{Name: "comments", Item: "comment",
		WriteItem: func(out reply.Writer, comment *commentv1.Comment) {
			if variant == WithIDs {
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

// owned is an album or a landmark.
type owned interface {
	GetLocation() *typev1.Location
	GetOwner() *typev1.Profile
	GetUpdateTime() *timestamppb.Timestamp
	GetScore() int64
}

// writeOwned writes what albums and landmarks have after their category (rules 5.7 and 6.5).
func writeOwned(out reply.Writer, content owned) {
	writeLocation(out, content.GetLocation())
	out.Text("ownerName", content.GetOwner().GetName())
	out.Text("ownerIcon", content.GetOwner().GetIconUrl())
	out.Day("updateDate", content.GetUpdateTime().AsTime())
	out.Integer("score", content.GetScore())
}

// writeLocation writes the location of an album, a blog or a landmark (rule 4.2).
func writeLocation(out reply.Writer, location *typev1.Location) {
	out.Begin("Location")
	out.Decimal("lat", location.GetLat())
	out.Decimal("lng", location.GetLng())
	out.End("Location")
}

// writeBlogHead writes what entries in lists begin with (rules 17.18 and 17.20).
func writeBlogHead(out reply.Writer, blog *blogv1.Blog) {
	out.ID("blogID", blog.GetBlogId(), blog.GetOldId())
	out.Text("blogTitle", blog.GetTitle())
	out.Integer("authorID", blog.GetAuthor().GetUserId())
	out.Text("authorName", blog.GetAuthor().GetName())
	out.Text("authorIcon", blog.GetAuthor().GetIconUrl())
	out.Text("type", nameOf(blogTypes[:], blog.GetType()))
	writeLocation(out, blog.GetLocation())
	writePostDate(out, blog.GetPostDate())
}

func writePostDate(out reply.Writer, date *typev1.Date) {
	reply.Date(out, "postDate", int(date.GetYear()), int(date.GetMonth()), int(date.GetDay()))
}

func writeWeatherAndQuote(out reply.Writer, blog *blogv1.Blog) {
	out.Text("weather", nameOf(weathers[:], blog.GetWeather()))
	if quoted := blog.GetReplyBlogId(); quoted != 0 {
		out.ID("replyBlogID", quoted, blog.GetReplyOldId())
	}
}
