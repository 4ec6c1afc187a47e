package cli

import (
	"context"
	"strings"

	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	"github.com/waybook/waybook/waybookctl/output"
)

type userList struct {
	limit `embed:""`

	PasswordForm string `enum:",bcrypt,md5,phpass,md5-crypt" default:"" placeholder:"FORM" help:"Only users whose password still has this form of an old service."`
}

// Run lists the users.
func (c *userList) Run(ctx context.Context, call *services, out *output.Printer) error {
	var form word[accountv1.PasswordForm]
	if c.PasswordForm != "" {
		if err := form.UnmarshalText([]byte(c.PasswordForm)); err != nil {
			return err
		}
	}
	return output.Items(out, "users", userColumns(), pages(c.limit, func(page pageOf) ([]*accountv1.User, string, error) {
		listed, err := call.account.ListUsers(ctx, &accountv1.ListUsersRequest{
			PasswordForm: form.value, PageSize: page.size, PageToken: page.token,
		})
		return listed.GetUsers(), listed.GetNextPageToken(), err
	}))
}

type userFind struct {
	limit `embed:""`

	Beginning string `arg:"" help:"Beginning of the nickname, or of the email address if it has an @, in any letter case."`
	Email     bool   `help:"Look for an email address, also without an @."`
}

// Run finds users.
func (c *userFind) Run(ctx context.Context, call *services, out *output.Printer) error {
	request := &accountv1.FindUsersRequest{By: &accountv1.FindUsersRequest_NamePrefix{NamePrefix: c.Beginning}}
	if c.Email || strings.Contains(c.Beginning, "@") {
		request.By = &accountv1.FindUsersRequest_EmailPrefix{EmailPrefix: c.Beginning}
	}
	return output.Items(out, "users", userColumns(), pages(c.limit, func(page pageOf) ([]*accountv1.User, string, error) {
		request.PageSize, request.PageToken = page.size, page.token
		found, err := call.account.FindUsers(ctx, request)
		return found.GetUsers(), found.GetNextPageToken(), err
	}))
}

type userPasswords struct{}

// Run shows the counts.
func (c *userPasswords) Run(ctx context.Context, call *services, out *output.Printer) error {
	counted, err := call.account.CountPasswordForms(ctx, &accountv1.CountPasswordFormsRequest{})
	if err != nil {
		return err
	}
	columns := []output.Column[*accountv1.PasswordFormCount]{
		{Head: "FORM", Cell: func(f *accountv1.PasswordFormCount) string { return inWord(f.GetForm()) }},
		{Head: "USERS", Cell: func(f *accountv1.PasswordFormCount) string { return number(f.GetUserCount()) }},
	}
	return output.Items(out, "counts", columns, func(yield func(*accountv1.PasswordFormCount, error) bool) {
		for _, each := range counted.GetCounts() {
			if !yield(each, nil) {
				return
			}
		}
	})
}

type userDisable struct {
	User int64 `arg:"" help:"The user's identifier."`
}

// Help returns the detailed help.
func (*userDisable) Help() string { return "What the user owns stays as it is." }

// Run disables the user.
func (c *userDisable) Run(ctx context.Context, call *services, out *output.Printer) error {
	isDisabled := true
	return updateUser(ctx, call, out, &accountv1.UpdateUserRequest{UserId: c.User, Disabled: &isDisabled}, newPassword{})
}

type userEnable struct {
	User int64 `arg:"" help:"The user's identifier."`
}

// Run enables the user.
func (c *userEnable) Run(ctx context.Context, call *services, out *output.Printer) error {
	isDisabled := false
	return updateUser(ctx, call, out, &accountv1.UpdateUserRequest{UserId: c.User, Disabled: &isDisabled}, newPassword{})
}
