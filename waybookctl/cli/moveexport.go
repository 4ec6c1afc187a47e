package cli

import (
	"context"
	"io"
	"time"

	"github.com/waybook/waybook/internal/pause"
	"github.com/waybook/waybook/moving/send"
	"github.com/waybook/waybook/waybookctl/atomicfile"
	"github.com/waybook/waybook/waybookctl/output"
	"github.com/waybook/waybook/waybookctl/progress"
)

type moveExport struct {
	newFile  `embed:""`
	File     string    `arg:"" help:"File to write; - for standard output. It appears only when complete, and only you can read it."`
	Since    time.Time `placeholder:"TIME" help:"When the changes begin, such as 2026-11-26T02:00:00Z, by the clock of the store; a minute before counts, too. Everything by default."`
	TimeZone string    `default:"Asia/Taipei" placeholder:"ZONE" help:"Time zone of the times in the file; ${default} by default."`
}

// Help returns the detailed help.
func (*moveExport) Help() string {
	return `The files have the format that move import reads, and the identifiers of the old service, or those of Waybook for what
was made in Waybook. Times are local, as databases take them. An album, an entry or a landmark is written whole: what the old service has
under it, and the file has not, is gone. Passwords and sessions stay here.

Nobody should write meanwhile: what changes during the export may be missing. What was deleted in Waybook is in the
list of problems of move import --dry-run with the files that were moved in.`
}

// Run exports the changes.
func (c *moveExport) Run(ctx context.Context, call *services, out *output.Printer, report progress.Reporter) error {
	zone, err := time.LoadLocation(c.TimeZone)
	if err != nil {
		return usageError("--time-zone: " + err.Error())
	}
	if err := c.check(c.File); err != nil {
		return err
	}
	var count int64
	err = atomicfile.WriteTo(out.Out, c.File, 0o600, func(file io.Writer) (err error) {
		count, err = send.ExportSince(ctx, call.Services, send.ExportOptions{Since: c.Since, Zone: zone, Wait: pause.For}, file, report)
		return err
	})
	return printExported(out, c.File, "%d records exported", count, err)
}
