package cli

import (
	"context"

	"github.com/alecthomas/kong"

	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	"github.com/waybook/waybook/waybookctl/output"
)

type applicationCommands struct {
	Create    applicationCreate `cmd:"" help:"Create an application and print its secret, which is shown only once."`
	Generated kong.Plugins      `embed:""`
}

type applicationCreate struct {
	Name        string `arg:"" help:"Display name, 1 to 100 characters."`
	Key         string `help:"Key: 1 to 64 letters, digits and . _ -; generated when not given."`
	SecretStdin bool   `help:"Read the secret, 16 to 200 characters, from the first line of standard input. Use this for clients that already have a secret."`
	AllowLegacy bool   `help:"Accept signatures in the legacy form too, which is weak."`
}

// Run creates the application.
func (c *applicationCreate) Run(ctx context.Context, call *services, out *output.Printer, from secrets) error {
	request := &accountv1.CreateApplicationRequest{Name: c.Name, Key: c.Key, AllowLegacy: c.AllowLegacy}
	if c.SecretStdin {
		var err error
		if request.Secret, err = from.line(ctx, "secret"); err != nil {
			return err
		}
	}
	created, err := call.Account.CreateApplication(ctx, request)
	if err != nil {
		return err
	}
	if c.SecretStdin {
		return printMessage(out, created.GetApplication())
	}
	return printMessage(out, created.GetApplication(), output.Field{Name: "secret", Value: created.GetSecret()})
}
