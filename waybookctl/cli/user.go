package cli

import (
	"context"
	"crypto/rand"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/waybook/waybook/moving/send"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	"github.com/waybook/waybook/waybookctl/output"
	"github.com/waybook/waybook/waybookctl/progress"
)

type userCommands struct {
	Create        userCreate        `cmd:"" help:"Create a user."`
	Generated     kong.Plugins      `embed:""`
	Find          userFind          `cmd:"" rpc:"FindUsers" help:"Find users by the beginning of their nickname or email address."`
	SetPassword   userSetPassword   `cmd:"" help:"Change a user's password and close the user's sessions."`
	GivePasswords userGivePasswords `cmd:"" help:"Set a random password for each user who has none, and write them to a file."`
	Export        userExport        `cmd:"" help:"Write what Waybook holds of a user to a file."`
	Delete        userDelete        `cmd:"" help:"Delete a user with everything that hangs on the user."`
}

// userID selects a user.
type userID struct {
	User int64 `arg:"" help:"The user's identifier."`
}

type userFind struct {
	limit
	Beginning string `arg:"" help:"Beginning of the nickname, or of the email address if it has an @, in any letter case."`
	Email     bool   `field:"-" help:"Look for an email address, also without an @."`
}

// Run finds users.
func (c *userFind) Run(ctx context.Context, call *rpc, out *output.Printer) error {
	request := call.request.(*accountv1.FindUsersRequest)
	request.By = &accountv1.FindUsersRequest_NamePrefix{NamePrefix: c.Beginning}
	if c.Email || strings.Contains(c.Beginning, "@") {
		request.By = &accountv1.FindUsersRequest_EmailPrefix{EmailPrefix: c.Beginning}
	}
	return call.printList(ctx, out, c.limit)
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
	created, err := call.Account.CreateUser(ctx, request)
	if err != nil {
		return err
	}
	return printMessage(out, created.GetUser(), c.shown(request.GetPassword())...)
}

type userSetPassword struct {
	newPassword

	userID
}

// Run changes the password.
func (c *userSetPassword) Run(ctx context.Context, call *services, out *output.Printer, from secrets) error {
	password, err := c.read(ctx, from)
	if err != nil {
		return err
	}
	updated, err := call.Account.UpdateUser(ctx, &accountv1.UpdateUserRequest{UserId: c.User, Password: &password})
	if err != nil {
		return err
	}
	return printMessage(out, updated.GetUser(), c.shown(password)...)
}

type userGivePasswords struct {
	File string `arg:"" help:"File to add the passwords to, a JSON object with user_id, email and password in each line. Only you can read it."`
}

// Help returns the detailed help.
func (*userGivePasswords) Help() string {
	return `After a move from an old service, some users have no password, because nobody knows the form of their old one. The command
sets a random password for each user who has an email address and no password. Send it to the user, and delete the file.

Each password is in the file before the service has it. To resume an interrupted command, run it again with the same file.`
}

// Run gives the passwords.
func (c *userGivePasswords) Run(ctx context.Context, call *services, out *output.Printer, report progress.Reporter) error {
	given, err := send.GivePasswords(ctx, call.Services, c.File, report)
	if err != nil {
		return err
	}
	return out.Value(output.Object{{Name: "given_count", Value: given.Passwords}, {Name: "addressless_count", Value: given.Addressless}}, func(page *output.Page) {
		page.Line(number(given.Passwords) + " users got a password")
		if given.Addressless > 0 {
			page.Line(number(given.Addressless) + " users have no email address, and cannot log in with a password")
		}
	})
}
