package cli

import (
	"context"

	"github.com/waybook/waybook/internal/pause"
	"github.com/waybook/waybook/moving/send"
	"github.com/waybook/waybook/waybookctl/output"
	"github.com/waybook/waybook/waybookctl/progress"
	"github.com/waybook/waybook/waybookctl/retry"
)

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
	given, err := send.GivePasswords(ctx, call.Services, c.File, retry.Options{Wait: pause.For, Note: report.Note}, report)
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
