package cli

import (
	"context"
	"crypto/rand"
	"strings"

	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	"github.com/waybook/waybook/waybookctl/output"
)

type userCommands struct {
	Create      userCreate      `cmd:"" help:"Create a user."`
	Invite      userInvite      `cmd:"" help:"Make an invitation, with which one person can register within seven days."`
	List        userList        `cmd:"" help:"List all users, or those whose nickname or email address begins with a text."`
	Show        userShow        `cmd:"" help:"Show a user."`
	Update      userUpdate      `cmd:"" help:"Change a user's nickname, email address or avatar image."`
	Disable     userDisable     `cmd:"" help:"Close a user's sessions and refuse further logins. What the user owns stays, and is hidden with --hide."`
	Enable      userEnable      `cmd:"" help:"Let a disabled user log in again, and show what the user owns."`
	SetPassword userSetPassword `cmd:"" help:"Change a user's password and close the user's sessions."`
	Delete      userDelete      `cmd:"" help:"Delete a user with all sessions and rewards."`
	Comments    userComments    `cmd:"" help:"List a user's comments on all content, or remove all of them."`
	Export      userExport      `cmd:"" help:"Write what Waybook holds of a user to a file."`
}

type userID struct {
	User int64 `arg:"" help:"The user's identifier."`
}

type userList struct {
	limit
	Beginning string `arg:"" optional:"" help:"Beginning of the nickname, or of the email address if it has an @, in any letter case."`
	Email     bool   `help:"List by the email address, also without an @."`
}

func (c *userList) Run(ctx context.Context, call *services, out *output.Printer) error {
	request := &accountv1.ListUsersRequest{}
	switch {
	case c.Email || strings.Contains(c.Beginning, "@"):
		request.Prefix = &accountv1.ListUsersRequest_EmailPrefix{EmailPrefix: c.Beginning}
	case c.Beginning != "":
		request.Prefix = &accountv1.ListUsersRequest_NamePrefix{NamePrefix: c.Beginning}
	}
	return users.list(out, pages(ctx, c.limit, call.Account.ListUsers, request,
		(*accountv1.ListUsersResponse).GetUsers))
}

type userShow struct{ userID }

func (c *userShow) Run(ctx context.Context, call *services, out *output.Printer) error {
	found, err := call.Account.GetUser(ctx, &accountv1.GetUserRequest{UserId: c.User})
	if err != nil {
		return err
	}
	return users.print(out, found.GetUser())
}

type userUpdate struct {
	userID
	Name  *string `placeholder:"NAME" help:"New nickname, 1 to 100 characters."`
	Email *string `placeholder:"ADDRESS" help:"New email address, with which the user logs in. It cannot be removed."`
	Icon  *string `placeholder:"URL" help:"New URL of the avatar image; may be empty."`
}

func (c *userUpdate) Run(ctx context.Context, call *services, out *output.Printer) error {
	if c.Name == nil && c.Email == nil && c.Icon == nil {
		return usageError("nothing to change: give --name, --email or --icon")
	}
	return updateUser(ctx, call, out, &accountv1.UpdateUserRequest{UserId: c.User, Name: c.Name, Email: c.Email,
		IconUrl: c.Icon})
}

func updateUser(ctx context.Context, call *services, out *output.Printer, request *accountv1.UpdateUserRequest,
	shown ...output.Field) error {
	updated, err := call.Account.UpdateUser(ctx, request)
	if err != nil {
		return err
	}
	return users.print(out, updated.GetUser(), shown...)
}

type userDisable struct {
	userID
	Hide bool `help:"Hide the user's albums, entries, landmarks and comments within 30 seconds, until user enable. Without it, they are shown again."`
}

func (c *userDisable) Run(ctx context.Context, call *services, out *output.Printer) error {
	return updateUser(ctx, call, out, &accountv1.UpdateUserRequest{UserId: c.User, Disabled: new(true),
		Hidden: &c.Hide})
}

type userEnable struct{ userID }

func (c *userEnable) Run(ctx context.Context, call *services, out *output.Printer) error {
	return updateUser(ctx, call, out, &accountv1.UpdateUserRequest{UserId: c.User, Disabled: new(false)})
}

// newPassword selects the source of a new password.
type newPassword struct {
	PasswordStdin    bool `xor:"password" help:"Read the password from the first line of standard input."`
	GeneratePassword bool `xor:"password" help:"Generate a password and print it, only this once."`
}

// read returns the password, and asks for it when no flag names a source.
func (p newPassword) read(ctx context.Context, from secrets) (string, error) {
	switch {
	case p.GeneratePassword:
		return rand.Text(), nil
	case p.PasswordStdin:
		return from.line(ctx, "password")
	}
	return from.askNew(ctx)
}

// shown returns the password if it was generated, to print it.
func (p newPassword) shown(password string) []output.Field {
	if !p.GeneratePassword {
		return nil
	}
	return []output.Field{{Name: "password", Value: password}}
}

type userCreate struct {
	newPassword

	Name       string `arg:"" help:"Nickname, 1 to 100 characters."`
	Email      string `placeholder:"ADDRESS" help:"Email address with which the user logs in. The command asks for a password unless a flag names its source."`
	Icon       string `placeholder:"URL" help:"URL of the avatar image."`
	NoPassword bool   `xor:"password" help:"Create the user without a password; the user cannot log in with one."`
}

func (c *userCreate) Run(ctx context.Context, call *services, out *output.Printer, from secrets) error {
	request := &accountv1.CreateUserRequest{Name: c.Name, Email: c.Email, IconUrl: c.Icon}
	if c.Email == "" && (c.PasswordStdin || c.GeneratePassword) {
		return usageError("a password requires --email, with which the user logs in")
	}
	if c.Email != "" && !c.NoPassword {
		var err error
		if request.Password, err = c.read(ctx, from); err != nil {
			return err
		}
	}
	created, err := call.Account.CreateUser(ctx, request)
	if err != nil {
		return err
	}
	return users.print(out, created.GetUser(), c.shown(request.GetPassword())...)
}

type userInvite struct{}

func (*userInvite) Help() string {
	return `The command prints the code of the invitation, only this once: the service stores its hash. It needs a service with
-registration invite.`
}

// Run makes an invitation and prints its code.
func (c *userInvite) Run(ctx context.Context, call *services, out *output.Printer) error {
	made, err := call.Account.CreateInvitation(ctx, &accountv1.CreateInvitationRequest{})
	if err != nil {
		return err
	}
	return out.Value(output.FromProto(made), func(page *output.Page) {
		page.Line(made.GetCode())
		page.Line("expires " + output.Time(made.GetExpireTime()))
	})
}

type userSetPassword struct {
	newPassword

	userID
}

func (c *userSetPassword) Run(ctx context.Context, call *services, out *output.Printer, from secrets) error {
	password, err := c.read(ctx, from)
	if err != nil {
		return err
	}
	return updateUser(ctx, call, out, &accountv1.UpdateUserRequest{UserId: c.User, Password: &password},
		c.shown(password)...)
}
