package cli

import (
	"context"
	"strconv"

	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	"github.com/waybook/waybook/waybookctl/output"
)

type applicationCommands struct {
	Create       applicationCreate       `cmd:"" help:"Create an application and print its secret, which is shown only once."`
	List         applicationList         `cmd:"" help:"List all applications in the order of their keys."`
	Show         applicationShow         `cmd:"" help:"Show an application, without its secret."`
	Rename       applicationRename       `cmd:"" help:"Rename an application."`
	AllowLegacy  applicationAllowLegacy  `cmd:"" help:"Accept an application's signatures in the legacy form too, which is weak."`
	RefuseLegacy applicationRefuseLegacy `cmd:"" help:"Accept an application's signatures only in the current form."`
	Disable      applicationDisable      `cmd:"" help:"Refuse all signatures of an application."`
	Enable       applicationEnable       `cmd:"" help:"Accept an application's signatures again."`
	Rotate       applicationRotate       `cmd:"" help:"Give an application a new secret and print it, only this once; the old secret is refused at once."`
	Delete       applicationDelete       `cmd:"" help:"Delete an application; its signatures are refused at once."`
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
	created, err := call.account.CreateApplication(ctx, request)
	if err != nil {
		return err
	}
	if c.SecretStdin {
		return printApplication(out, created.GetApplication(), "")
	}
	return printApplication(out, created.GetApplication(), created.GetSecret())
}

type applicationList struct {
	limit `embed:""`
}

// Run lists the applications.
func (c *applicationList) Run(ctx context.Context, call *services, out *output.Printer) error {
	return output.Items(out, "applications", applicationColumns(), pages(c.limit, func(page pageOf) ([]*accountv1.Application, string, error) {
		listed, err := call.account.ListApplications(ctx, &accountv1.ListApplicationsRequest{PageSize: page.size, PageToken: page.token})
		return listed.GetApplications(), listed.GetNextPageToken(), err
	}))
}

// keyArgument is the argument that selects an application.
type keyArgument struct {
	Key string `arg:"" help:"The application's key."`
}

// update changes the application and prints it.
func (k keyArgument) update(ctx context.Context, call *services, out *output.Printer, request *accountv1.UpdateApplicationRequest) error {
	request.Key = k.Key
	updated, err := call.account.UpdateApplication(ctx, request)
	if err != nil {
		return err
	}
	return printApplication(out, updated.GetApplication(), "")
}

type applicationShow struct {
	keyArgument `embed:""`
}

// Run shows the application.
func (c *applicationShow) Run(ctx context.Context, call *services, out *output.Printer) error {
	found, err := call.account.GetApplication(ctx, &accountv1.GetApplicationRequest{Key: c.Key})
	if err != nil {
		return err
	}
	return printApplication(out, found.GetApplication(), "")
}

type applicationRename struct {
	keyArgument `embed:""`

	Name string `arg:"" help:"New display name, 1 to 100 characters."`
}

// Run renames the application.
func (c *applicationRename) Run(ctx context.Context, call *services, out *output.Printer) error {
	return c.update(ctx, call, out, &accountv1.UpdateApplicationRequest{Name: &c.Name})
}

type applicationAllowLegacy struct {
	keyArgument `embed:""`
}

// Run allows the legacy form.
func (c *applicationAllowLegacy) Run(ctx context.Context, call *services, out *output.Printer) error {
	return c.update(ctx, call, out, &accountv1.UpdateApplicationRequest{AllowLegacy: new(true)})
}

type applicationRefuseLegacy struct {
	keyArgument `embed:""`
}

// Run refuses the legacy form.
func (c *applicationRefuseLegacy) Run(ctx context.Context, call *services, out *output.Printer) error {
	return c.update(ctx, call, out, &accountv1.UpdateApplicationRequest{AllowLegacy: new(false)})
}

type applicationDisable struct {
	keyArgument `embed:""`
}

// Run disables the application.
func (c *applicationDisable) Run(ctx context.Context, call *services, out *output.Printer) error {
	return c.update(ctx, call, out, &accountv1.UpdateApplicationRequest{Disabled: new(true)})
}

type applicationEnable struct {
	keyArgument `embed:""`
}

// Run enables the application.
func (c *applicationEnable) Run(ctx context.Context, call *services, out *output.Printer) error {
	return c.update(ctx, call, out, &accountv1.UpdateApplicationRequest{Disabled: new(false)})
}

type applicationRotate struct {
	keyArgument `embed:""`
}

// Run changes the secret.
func (c *applicationRotate) Run(ctx context.Context, call *services, out *output.Printer) error {
	rotated, err := call.account.RotateApplicationSecret(ctx, &accountv1.RotateApplicationSecretRequest{Key: c.Key})
	if err != nil {
		return err
	}
	return printApplication(out, rotated.GetApplication(), rotated.GetSecret())
}

type applicationDelete struct {
	keyArgument `embed:""`
}

// Run deletes the application.
func (c *applicationDelete) Run(ctx context.Context, call *services, out *output.Printer) error {
	if _, err := call.account.DeleteApplication(ctx, &accountv1.DeleteApplicationRequest{Key: c.Key}); err != nil {
		return err
	}
	out.Note("deleted %s", c.Key)
	return nil
}

// printApplication prints an application, and its secret unless secret is empty.
func printApplication(out *output.Printer, application *accountv1.Application, secret string) error {
	value := output.FromProto(application)
	columns := applicationColumns()
	if secret != "" {
		value = append(value, output.Field{Name: "secret", Value: secret})
		columns = append(columns, output.Column[*accountv1.Application]{
			Head: "SECRET", Cell: func(*accountv1.Application) string { return secret },
		})
	}
	return out.Value(value, func(page *output.Page) { output.Record(page, columns, application) })
}

func applicationColumns() []output.Column[*accountv1.Application] {
	return []output.Column[*accountv1.Application]{
		{Head: "KEY", Cell: (*accountv1.Application).GetKey},
		{Head: "NAME", Cell: (*accountv1.Application).GetName},
		{Head: "DISABLED", Cell: func(a *accountv1.Application) string { return strconv.FormatBool(a.GetDisabled()) }},
		{Head: "LEGACY FORM", Cell: func(a *accountv1.Application) string { return strconv.FormatBool(a.GetAllowLegacy()) }},
		{Head: "SECRET OF", Cell: func(a *accountv1.Application) string { return output.Time(a.GetSecretTime()) }},
		{Head: "CREATED", Cell: func(a *accountv1.Application) string { return output.Time(a.GetCreateTime()) }},
	}
}
