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
entries and landmarks with their photos and comments.

It has no password, no session, and not what the user wrote in the content of others. Recommendations and votes of
others are numbers only.`
}

// Run exports the data.
func (c *userExport) Run(ctx context.Context, call *services, out *output.Printer) (err error) {
	from := move.Services{Account: call.account, Album: call.album, Blog: call.blog, Poi: call.poi}
	if c.File == "-" {
		_, err = move.ExportPerson(ctx, from, c.User, out.Out)
		return err
	}
	var count int64
	err = atomicfile.Write(c.File, 0o600, func(file io.Writer) (err error) {
		count, err = move.ExportPerson(ctx, from, c.User, file)
		return err
	})
	if err != nil {
		return err
	}
	return out.Value(output.Object{{Name: "exported_count", Value: count}},
		func(page *output.Page) { page.Line(fmt.Sprintf("%d records exported", count)) })
}
