package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
	"github.com/waybook/waybook/waybookctl/output"
)

// The values of userDelete.Content.
const (
	refuseContent  = "refuse"
	deleteContents = "delete"
)

type userDelete struct {
	User    int64  `arg:"" help:"The user's identifier."`
	Content string `enum:"refuse,keep,delete" default:"refuse" placeholder:"WHAT" help:"What to do if the user has albums, entries or landmarks: refuse the deletion, keep them without a name, or delete them. ${default} by default."`
}

// Help returns the detailed help.
func (*userDelete) Help() string {
	return `The command disables the user, deletes the content, and then deletes the user with all sessions and rewards.
The email address is free from then on. If the command is interrupted, the user is disabled; run it again to finish.

Comments, votes and recommendations of the user in the content of others stay. Their author has no name any more, and so
have albums, entries and landmarks with --content keep. Those cannot be changed. Comments of a hidden user are removed.

Content cannot be given to another user, because its identifiers would change. To hand it over, hand over the
account: user update and user set-password.`
}

// Run deletes the user.
func (c *userDelete) Run(ctx context.Context, call *services, out *output.Printer) error {
	found, err := call.Account.GetUser(ctx, &accountv1.GetUserRequest{UserId: c.User})
	isGone := status.Code(err) == codes.NotFound
	if err != nil && !isGone {
		return err
	}
	isHidden := found.GetUser().GetHidden()
	if isHidden && c.Content != deleteContents {
		return refusedError(fmt.Sprintf("user %d is hidden, and all that stays of a deleted user is shown; give --content delete, or use user enable", c.User))
	}
	if c.Content == refuseContent {
		if err := c.requireNothing(ctx, call); err != nil {
			return err
		}
	}
	if !isGone {
		if err := c.setDisabled(ctx, call, true); err != nil {
			return err
		}
	}
	deleted := make([]int, len(belongings))
	switch c.Content {
	case refuseContent:
		// The user may have added something until now.
		if err := c.requireNothing(ctx, call); err != nil {
			if !isGone && !found.GetUser().GetDisabled() {
				err = errors.Join(err, c.setDisabled(ctx, call, false))
			}
			return err
		}
	case deleteContents:
		for i, kind := range belongings {
			if deleted[i], err = deleteAll(ctx, call, c.User, kind); err != nil {
				return err
			}
		}
		if isHidden {
			if _, err := removeComments(ctx, call, c.User); err != nil {
				return err
			}
		}
	}
	if _, err := call.Account.DeleteUser(ctx, &accountv1.DeleteUserRequest{UserId: c.User}); err != nil {
		return err
	}
	value := output.Object{{Name: "user_id", Value: c.User}}
	for i, kind := range belongings {
		value = append(value, output.Field{Name: "deleted_" + kind.name, Value: deleted[i]})
	}
	return out.Value(value, func(page *output.Page) {
		page.Line("deleted user " + number(c.User) + ", " + counted(deleted))
	})
}

func (c *userDelete) setDisabled(ctx context.Context, call *services, isDisabled bool) error {
	_, err := call.Account.UpdateUser(ctx, &accountv1.UpdateUserRequest{UserId: c.User, Disabled: &isDisabled})
	return err
}

// requireNothing refuses a user who has content.
func (c *userDelete) requireNothing(ctx context.Context, call *services) error {
	counts, isAny := make([]int, len(belongings)), false
	for i, kind := range belongings {
		ids, err := kind.idsOf(ctx, call, c.User)
		if err != nil {
			return err
		}
		counts[i], isAny = len(ids), isAny || len(ids) > 0
	}
	if !isAny {
		return nil
	}
	return refusedError(fmt.Sprintf("user %d has %s; nothing was deleted; see --content", c.User, counted(counts)))
}

// belonging is a kind of content that belongs to users.
type belonging struct {
	// name is its plural.
	name string
	// idsOf returns the identifiers of all that a user owns: 8 bytes for each.
	idsOf  func(ctx context.Context, call *services, owner int64) ([]int64, error)
	delete func(ctx context.Context, call *services, owner, id int64) error
}

// belongings are all kinds.
var belongings = []belonging{
	{
		"albums",
		func(ctx context.Context, call *services, owner int64) ([]int64, error) {
			request := &albumv1.ListAlbumsRequest{OwnerId: owner, WithHidden: true, View: typev1.View_VIEW_SUMMARY, PageSize: idPage}
			return idsIn(ctx, call.Album.ListAlbums, request, (*albumv1.ListAlbumsResponse).GetSummaries)
		},
		func(ctx context.Context, call *services, owner, id int64) error {
			_, err := call.Album.DeleteAlbum(ctx, &albumv1.DeleteAlbumRequest{ActorId: owner, AlbumId: id})
			return err
		},
	},
	{
		"entries",
		func(ctx context.Context, call *services, owner int64) ([]int64, error) {
			request := &blogv1.ListBlogsRequest{AuthorId: owner, WithHidden: true, View: typev1.View_VIEW_SUMMARY, PageSize: idPage}
			return idsIn(ctx, call.Blog.ListBlogs, request, (*blogv1.ListBlogsResponse).GetSummaries)
		},
		func(ctx context.Context, call *services, owner, id int64) error {
			_, err := call.Blog.DeleteBlog(ctx, &blogv1.DeleteBlogRequest{ActorId: owner, BlogId: id})
			return err
		},
	},
	{
		"landmarks",
		func(ctx context.Context, call *services, owner int64) ([]int64, error) {
			request := &poiv1.ListPoisRequest{OwnerId: owner, WithHidden: true, View: typev1.View_VIEW_SUMMARY, PageSize: idPage}
			return idsIn(ctx, call.Poi.ListPois, request, (*poiv1.ListPoisResponse).GetSummaries)
		},
		func(ctx context.Context, call *services, owner, id int64) error {
			_, err := call.Poi.DeletePoi(ctx, &poiv1.DeletePoiRequest{ActorId: owner, PoiId: id})
			return err
		},
	},
}

// idPage is how many items are read at a time.
const idPage = 1000

// idsIn returns the identifiers of the items of a list. Of a user who is gone there are none.
func idsIn[Request proto.Message, Reply interface{ GetNextPageToken() string }](
	ctx context.Context, ask func(context.Context, Request, ...grpc.CallOption) (Reply, error), request Request,
	items func(Reply) []*typev1.Summary,
) (ids []int64, _ error) {
	err := walk(ctx, ask, request, items, func(item *typev1.Summary) error { ids = append(ids, item.GetId()); return nil })
	if err != nil && status.Code(err) != codes.NotFound {
		return nil, err
	}
	return ids, nil
}

// counted names how many there are of each kind.
func counted(counts []int) string {
	parts := make([]string, len(belongings))
	for i, kind := range belongings {
		parts[i] = fmt.Sprintf("%d %s", counts[i], kind.name)
	}
	return strings.Join(parts, ", ")
}

// deleteAll deletes all that a user owns of a kind, until there is nothing left.
func deleteAll(ctx context.Context, call *services, owner int64, kind belonging) (count int, err error) {
	for {
		ids, err := kind.idsOf(ctx, call, owner)
		if err != nil || len(ids) == 0 {
			return count, err
		}
		before := count
		for _, id := range ids {
			switch err := kind.delete(ctx, call, owner, id); {
			case err == nil:
				count++
			case status.Code(err) != codes.NotFound: // another command may delete the same
				return count, err
			}
		}
		if count == before {
			return count, fmt.Errorf("%d %s of user %d can neither be found nor are they gone; run the command again", len(ids), kind.name, owner)
		}
	}
}
