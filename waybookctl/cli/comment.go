package cli

import (
	"context"
	"iter"

	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	commentv1 "github.com/waybook/waybook/proto/gen/waybook/comment/v1"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
	"github.com/waybook/waybook/waybookctl/output"
)

type commentCommands struct {
	Remove commentRemove `cmd:"" help:"Remove a comment."`
}

// contentKinds are the kinds of content that users comment on.
var contentKinds = [...]typev1.Kind{typev1.Kind_KIND_ALBUM, typev1.Kind_KIND_BLOG, typev1.Kind_KIND_POI}

// nounOf returns the name that a kind of content has in commands.
func nounOf(kind typev1.Kind) string {
	switch kind {
	case typev1.Kind_KIND_ALBUM:
		return "album"
	case typev1.Kind_KIND_BLOG:
		return "entry"
	}
	return "landmark"
}

type userComments struct {
	limit
	userID
	Remove bool `help:"Remove all comments of the user."`
	Yes    bool `help:"Confirm --remove, which cannot be undone."`
}

// Run lists or removes the comments.
func (c *userComments) Run(ctx context.Context, call *services, out *output.Printer) error {
	switch {
	case c.Remove != c.Yes:
		return usageError("removing all comments of a user cannot be undone: give both --remove and --yes")
	case !c.Remove:
		return output.Items(out, writtenComments.kind, writtenComments.heads, c.written(ctx, call), writtenComments.cells)
	case c.Limit != 0:
		return usageError("--remove removes all; leave out --limit")
	}
	removed, err := removeComments(ctx, call, c.User)
	if err != nil {
		return err
	}
	return out.Value(output.Object{{Name: "removed_count", Value: removed}}, func(page *output.Page) {
		page.Line("removed " + number(removed) + " comments")
	})
}

// removeComments removes all comments of a user, and returns their number.
func removeComments(ctx context.Context, call *services, user int64) (removed int64, _ error) {
	for _, kind := range contentKinds {
		request := &commentv1.RemoveCommentsByAuthorRequest{AuthorId: user, On: &commentv1.RemoveCommentsByAuthorRequest_Kind{Kind: kind}}
		for hasMore := true; hasMore; {
			reply, err := call.Comment.RemoveCommentsByAuthor(ctx, request)
			if err != nil {
				return removed, err
			}
			removed, hasMore = removed+int64(reply.GetRemovedCount()), reply.GetHasMore()
		}
	}
	return removed, nil
}

// written returns the comments of the user, on content of all kinds.
func (c *userComments) written(ctx context.Context, call *services) iter.Seq2[*commentv1.Comment, error] {
	return func(yield func(*commentv1.Comment, error) bool) {
		left := c.limit
		for _, kind := range contentKinds {
			for comment, err := range pages(left, func(page pageOf) ([]*commentv1.Comment, string, error) {
				reply, err := call.Comment.ListCommentsByAuthor(ctx, &commentv1.ListCommentsByAuthorRequest{
					AuthorId: c.User, Kind: kind, PageSize: page.size, PageToken: page.token,
				})
				return reply.GetComments(), reply.GetNextPageToken(), err
			}) {
				if !yield(comment, err) || err != nil {
					return
				}
				if left.Limit == 1 {
					return
				}
				left.Limit = max(left.Limit, 1) - 1
			}
		}
	}
}

type commentRemove struct {
	On      string `arg:"" enum:"album,entry,landmark" help:"What the comment is on: album, entry or landmark."`
	ID      int64  `arg:"" help:"The identifier of that."`
	Comment int64  `arg:"" help:"The comment's identifier."`
}

// Run removes the comment as the owner of the content.
func (c *commentRemove) Run(ctx context.Context, call *services, out *output.Printer) error {
	request := &commentv1.RemoveCommentRequest{CommentId: c.Comment}
	switch c.On {
	case "album":
		found, err := call.Album.GetAlbum(ctx, &albumv1.GetAlbumRequest{AlbumId: c.ID})
		if err != nil {
			return err
		}
		request.Parent = &commentv1.RemoveCommentRequest_AlbumId{AlbumId: c.ID}
		request.ActorId = found.GetAlbum().GetOwner().GetUserId()
	case "entry":
		found, err := call.Blog.GetBlog(ctx, &blogv1.GetBlogRequest{BlogId: c.ID})
		if err != nil {
			return err
		}
		request.Parent = &commentv1.RemoveCommentRequest_BlogId{BlogId: c.ID}
		request.ActorId = found.GetBlog().GetAuthor().GetUserId()
	default:
		found, err := call.Poi.GetPoi(ctx, &poiv1.GetPoiRequest{PoiId: c.ID})
		if err != nil {
			return err
		}
		request.Parent = &commentv1.RemoveCommentRequest_PoiId{PoiId: c.ID}
		request.ActorId = found.GetPoi().GetOwner().GetUserId()
	}
	if _, err := call.Comment.RemoveComment(ctx, request); err != nil {
		return err
	}
	out.Note("removed %d", c.Comment)
	return nil
}
