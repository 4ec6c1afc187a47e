package cli

import (
	"context"
	"iter"

	commentv1 "github.com/waybook/waybook/proto/gen/waybook/comment/v1"
	"github.com/waybook/waybook/waybookctl/output"
)

type commentCommands struct {
	Remove commentRemove `cmd:"" help:"Remove a comment."`
}

type userComments struct {
	limit
	userID
	Remove bool `help:"Remove all comments of the user."`
	Yes    bool `help:"Confirm --remove, which cannot be undone."`
}

func (c *userComments) Run(ctx context.Context, call *services, out *output.Printer) error {
	switch {
	case c.Remove != c.Yes:
		return usageError("removing all comments of a user cannot be undone: give both --remove and --yes")
	case !c.Remove:
		return writtenComments.list(out, c.written(ctx, call))
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
	for _, kind := range kinds {
		request := &commentv1.RemoveCommentsByAuthorRequest{AuthorId: user,
			On: &commentv1.RemoveCommentsByAuthorRequest_Kind{Kind: kind.Kind}}
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
		for _, kind := range kinds {
			request := &commentv1.ListCommentsByAuthorRequest{AuthorId: c.User, Kind: kind.Kind}
			list := pages(ctx, left, call.Comment.ListCommentsByAuthor, request,
				(*commentv1.ListCommentsByAuthorResponse).GetComments)
			for comment, err := range list {
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
	of := parent{kind: kindNamed(c.On), id: c.ID}
	request := asked(of, &commentv1.RemoveCommentRequest{CommentId: c.Comment})
	var err error
	if request.ActorId, err = of.owner(ctx, call, c.ID); err != nil {
		return err
	}
	if _, err := call.Comment.RemoveComment(ctx, request); err != nil {
		return err
	}
	out.Note("removed %d", c.Comment)
	return nil
}
