package cli

import (
	"context"

	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	"github.com/waybook/waybook/waybookctl/output"
)

type applicationCommands struct {
	Create       applicationCreate `cmd:"" help:"Create an application and print its secret, which is shown only once."`
	List         lists             `cmd:"" rpc:"ListApplications" help:"List all applications in the order of their keys."`
	Show         applicationOnly   `cmd:"" rpc:"GetApplication" help:"Show an application, without its secret."`
	Rename       applicationRename `cmd:"" rpc:"UpdateApplication" help:"Rename an application."`
	AllowLegacy  applicationOnly   `cmd:"" rpc:"UpdateApplication" with:"allow_legacy" help:"Accept an application's signatures in the legacy form too, which is weak."`
	RefuseLegacy applicationOnly   `cmd:"" rpc:"UpdateApplication" with:"!allow_legacy" help:"Accept an application's signatures only in the current form."`
	Disable      applicationOnly   `cmd:"" rpc:"UpdateApplication" with:"disabled" help:"Refuse all signatures of an application."`
	Enable       applicationOnly   `cmd:"" rpc:"UpdateApplication" with:"!disabled" help:"Accept an application's signatures again."`
	Rotate       applicationRotate `cmd:"" help:"Give an application a new secret and print it, only this once; the old secret is refused at once."`
	Delete       applicationOnly   `cmd:"" rpc:"DeleteApplication" help:"Delete an application; its signatures are refused at once."`
}

// applicationKey selects an application.
type applicationKey struct {
	Key string `arg:"" help:"The application's key."`
}

type (
	applicationOnly struct {
		calls
		applicationKey
	}
	applicationRename struct {
		calls
		applicationKey
		Name string `arg:"" help:"New display name, 1 to 100 characters."`
	}
)

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

type applicationRotate struct{ applicationKey }

// Run changes the secret.
func (c *applicationRotate) Run(ctx context.Context, call *services, out *output.Printer) error {
	rotated, err := call.Account.RotateApplicationSecret(ctx, &accountv1.RotateApplicationSecretRequest{Key: c.Key})
	if err != nil {
		return err
	}
	return printMessage(out, rotated.GetApplication(), output.Field{Name: "secret", Value: rotated.GetSecret()})
}
