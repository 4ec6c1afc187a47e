package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/waybook/waybook/waybookctl/atomicfile"
	"github.com/waybook/waybook/waybookctl/move"
	"github.com/waybook/waybook/waybookctl/output"
)

type userExport struct {
	User int64  `arg:"" help:"The user's identifier."`
	File string `arg:"" help:"File to write; - for standard output. It appears only when complete, and only you can read it."`
}

// Help returns the detailed help.
func (*userExport) Help() string {
	return `The file has the format that move import reads: an object in each line, with the user, rewards, and the user's albums,
entries and landmarks with their photos, comments, votes and recommendations.

It has no password, no session, and not what the user wrote in the content of others.`
}

// Run exports the data.
func (c *userExport) Run(ctx context.Context, call *services, out *output.Printer) error {
	return exportOf(ctx, call, out, c.User, c.File, move.ExportPerson)
}

// ownExport is an export of one kind of a user's content.
type ownExport struct {
	File string `arg:"" help:"File to write; - for standard output. It appears only when complete, and only you can read it."`
}

// Help returns the detailed help.
func (ownExport) Help() string {
	return `The file has the format that move import reads. If you import it into another Waybook and export again, the file is the
same. The users must be there, those who commented, voted or recommended too: user export writes a user as well.`
}

type albumExport struct {
	ownExport
	Owner int64 `required:"" placeholder:"USER" help:"Owner of the albums."`
}

// Run exports the albums.
func (c *albumExport) Run(ctx context.Context, call *services, out *output.Printer) error {
	return exportOf(ctx, call, out, c.Owner, c.File, move.ExportAlbums)
}

type entryExport struct {
	ownExport
	Author int64 `required:"" placeholder:"USER" help:"Author of the entries."`
}

// Run exports the entries.
func (c *entryExport) Run(ctx context.Context, call *services, out *output.Printer) error {
	return exportOf(ctx, call, out, c.Author, c.File, move.ExportEntries)
}

// exporter writes records of a user, and returns their number.
type exporter func(ctx context.Context, from move.Services, user int64, out io.Writer) (int64, error)

// exportOf writes records of a user to a file, or to standard output.
func exportOf(ctx context.Context, call *services, out *output.Printer, user int64, path string, export exporter) (err error) {
	from := move.Services{Account: call.account, Album: call.album, Blog: call.blog, Poi: call.poi}
	if path == "-" {
		_, err = export(ctx, from, user, out.Out)
		return err
	}
	var count int64
	err = atomicfile.Write(path, 0o600, func(file io.Writer) (err error) {
		count, err = export(ctx, from, user, file)
		return err
	})
	if err != nil {
		return err
	}
	return out.Value(output.Object{{Name: "exported_count", Value: count}},
		func(page *output.Page) { page.Line(fmt.Sprintf("%d records exported", count)) })
}
