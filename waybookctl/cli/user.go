package cli

import (
	"context"
	"crypto/rand"
	"strconv"

	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	"github.com/waybook/waybook/waybookctl/output"
)

type userCommands struct {
	Create      userCreate                              `cmd:"" help:"Create a user."`
	List        userList                                `cmd:"" help:"List all users, or those with an old form of password."`
	Find        userFind                                `cmd:"" help:"Find users by the beginning of their nickname or email address."`
	Show        userShow                                `cmd:"" help:"Show a user."`
	Changes     changesOf[users, *accountv1.UserChange] `cmd:"" help:"List what was created, changed or deleted until two seconds ago, oldest first."`
	Rename      userRename                              `cmd:"" help:"Change a user's nickname."`
	SetEmail    userSetEmail                            `cmd:"" help:"Change the email address with which a user logs in."`
	SetPassword userSetPassword                         `cmd:"" help:"Change a user's password and close the user's sessions."`
	Passwords   userPasswords                           `cmd:"" help:"Show how many users still have the password form of an old service."`
	Rewards     userRewards                             `cmd:"" help:"Show the rewards of a user."`
	Export      userExport                              `cmd:"" help:"Write what Waybook holds of a user to a file."`
	Disable     userDisable                             `cmd:"" help:"Close a user's sessions and refuse further logins."`
	Enable      userEnable                              `cmd:"" help:"Let a disabled user log in again."`
	Delete      userDelete                              `cmd:"" help:"Delete a user with everything that hangs on the user."`
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

type userCreate struct {
	newPassword `embed:""`

	Name       string `arg:"" help:"Nickname, 1 to 100 characters."`
	Email      string `placeholder:"ADDRESS" help:"Email address with which the user logs in. The command asks for a password unless a flag names its source."`
	Icon       string `placeholder:"URL" help:"URL of the avatar image."`
	NoPassword bool   `xor:"password" help:"Create the user without a password; the user cannot log in with one."`
}

// Run creates the user.
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
	created, err := call.account.CreateUser(ctx, request)
	if err != nil {
		return err
	}
	return printUser(out, created.GetUser(), c.newPassword, request.GetPassword())
}

type userShow struct {
	User int64 `arg:"" help:"The user's identifier."`
}

// Run shows the user.
func (c *userShow) Run(ctx context.Context, call *services, out *output.Printer) error {
	found, err := call.account.GetUser(ctx, &accountv1.GetUserRequest{UserId: c.User})
	if err != nil {
		return err
	}
	return printUser(out, found.GetUser(), newPassword{}, "")
}

type userRename struct {
	User int64  `arg:"" help:"The user's identifier."`
	Name string `arg:"" help:"New nickname, 1 to 100 characters."`
}

// Run renames the user.
func (c *userRename) Run(ctx context.Context, call *services, out *output.Printer) error {
	return updateUser(ctx, call, out, &accountv1.UpdateUserRequest{UserId: c.User, Name: &c.Name}, newPassword{})
}

type userSetEmail struct {
	User  int64  `arg:"" help:"The user's identifier."`
	Email string `arg:"" help:"New email address; no other user may have it."`
}

// Run changes the email address.
func (c *userSetEmail) Run(ctx context.Context, call *services, out *output.Printer) error {
	return updateUser(ctx, call, out, &accountv1.UpdateUserRequest{UserId: c.User, Email: &c.Email}, newPassword{})
}

type userSetPassword struct {
	newPassword `embed:""`

	User int64 `arg:"" help:"The user's identifier."`
}

// Run changes the password.
func (c *userSetPassword) Run(ctx context.Context, call *services, out *output.Printer, from secrets) error {
	password, err := c.read(ctx, from)
	if err != nil {
		return err
	}
	return updateUser(ctx, call, out, &accountv1.UpdateUserRequest{UserId: c.User, Password: &password}, c.newPassword)
}

func updateUser(
	ctx context.Context, call *services, out *output.Printer, request *accountv1.UpdateUserRequest, how newPassword,
) error {
	updated, err := call.account.UpdateUser(ctx, request)
	if err != nil {
		return err
	}
	return printUser(out, updated.GetUser(), how, request.GetPassword())
}

// printUser prints a user, and the password if it was generated here.
func printUser(out *output.Printer, user *accountv1.User, how newPassword, password string) error {
	value := output.FromProto(user)
	columns := userColumns()
	if how.GeneratePassword {
		value = append(value, output.Field{Name: "password", Value: password})
		columns = append(columns, output.Column[*accountv1.User]{
			Head: "PASSWORD", Cell: func(*accountv1.User) string { return password },
		})
	}
	return out.Value(value, func(page *output.Page) { output.Record(page, columns, user) })
}

func userColumns() []output.Column[*accountv1.User] {
	return []output.Column[*accountv1.User]{
		{Head: "USER", Cell: func(u *accountv1.User) string { return number(u.GetUserId()) }},
		{Head: "NAME", Cell: (*accountv1.User).GetName},
		{Head: "EMAIL", Cell: (*accountv1.User).GetEmail},
		{Head: "HAS PASSWORD", Cell: func(u *accountv1.User) string { return strconv.FormatBool(u.GetHasPassword()) }},
		{Head: "HASH", Cell: func(u *accountv1.User) string { return passwordForm(u.GetPasswordForm()) }},
		{Head: "DISABLED", Cell: func(u *accountv1.User) string { return strconv.FormatBool(u.GetDisabled()) }},
		{Head: "ICON", Cell: (*accountv1.User).GetIconUrl},
		{Head: "CREATED", Cell: func(u *accountv1.User) string { return output.Time(u.GetCreateTime()) }},
	}
}

// passwordForm returns the word for the form of a password, or "-".
func passwordForm(form accountv1.PasswordForm) string {
	if form == accountv1.PasswordForm_PASSWORD_FORM_UNSPECIFIED {
		return "-"
	}
	return inWord(form)
}

type userRewards struct {
	User int64 `arg:"" help:"The user's identifier."`
}

// Run shows the total.
func (c *userRewards) Run(ctx context.Context, call *services, out *output.Printer) error {
	total, err := call.account.GetRewardTotal(ctx, &accountv1.GetRewardTotalRequest{UserId: c.User})
	if err != nil {
		return err
	}
	return out.Value(output.FromProto(total), func(page *output.Page) {
		output.Record(page, []output.Column[*accountv1.GetRewardTotalResponse]{
			{Head: "TOTAL", Cell: func(r *accountv1.GetRewardTotalResponse) string { return number(r.GetTotal()) }},
			{Head: "REWARDS", Cell: func(r *accountv1.GetRewardTotalResponse) string { return number(r.GetRewardCount()) }},
		}, total)
	})
}
