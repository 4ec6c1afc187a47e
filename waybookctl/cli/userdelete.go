package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
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

func (*userDelete) Help() string {
	return `The command disables the user, deletes the content, and then deletes the user with all sessions and rewards.
The email address is free from then on. If the command is interrupted, the user is disabled; run it again to finish.

Comments, votes and recommendations of the user in the content of others stay. Their author has no name any more, and so
have albums, entries and landmarks with --content keep. Those cannot be changed. Comments of a hidden user are removed.

Content cannot be given to another user, because its identifiers would change. To hand it over, hand over the
account: user update and user set-password.`
}

func (c *userDelete) Run(ctx context.Context, call *services, out *output.Printer) error {
	found, err := call.Account.GetUser(ctx, &accountv1.GetUserRequest{UserId: c.User})
	isGone := status.Code(err) == codes.NotFound
	if err != nil && !isGone {
		return err
	}
	isHidden := found.GetUser().GetHidden()
	if isHidden && c.Content != deleteContents {
		return refusedError(fmt.Sprintf("user %d is hidden, and all that stays of a deleted user is shown; give "+
			"--content delete, or use user enable", c.User))
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
	deleted := make([]int, len(kinds))
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
		for i, kind := range kinds {
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
	for i, kind := range kinds {
		value = append(value, output.Field{Name: "deleted_" + kind.plural, Value: deleted[i]})
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
	counts, isAny := make([]int, len(kinds)), false
	for i, kind := range kinds {
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

// counted names how many there are of each kind.
func counted(counts []int) string {
	parts := make([]string, len(kinds))
	for i, kind := range kinds {
		parts[i] = fmt.Sprintf("%d %s", counts[i], kind.plural)
	}
	return strings.Join(parts, ", ")
}

// deleteAll deletes all that a user owns of a kind, until there is nothing left.
func deleteAll(ctx context.Context, call *services, owner int64, kind *kind) (count int, err error) {
	for {
		ids, err := kind.idsOf(ctx, call, owner)
		if err != nil || len(ids) == 0 {
			return count, err
		}
		before := count
		for _, id := range ids {
			switch err := kind.delete(ctx, call, owner, id, ""); {
			case err == nil:
				count++
			case status.Code(err) != codes.NotFound: // another command may delete the same
				return count, err
			}
		}
		if count == before {
			return count, fmt.Errorf("%d %s of user %d can neither be found nor are they gone; run the command again",
				len(ids), kind.plural, owner)
		}
	}
}
