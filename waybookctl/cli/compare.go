package cli

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/waybook/waybook/internal/progress"
	"github.com/waybook/waybook/moving/compare"
	"github.com/waybook/waybook/waybookctl/output"
)

type compareCommand struct {
	Old  compare.Server `arg:"" help:"Address of the old server, such as https://old.example."`
	New  compare.Server `arg:"" help:"Address of the new server."`
	File string         `arg:"" help:"File with a request in each line; - for standard input."`

	TimeZone string `default:"Asia/Taipei" placeholder:"ZONE" help:"Time zone of times in replies that name none; ${default} by default."`
}

func (*compareCommand) Help() string {
	return `A line of the file is a query string, such as func=getAlbum&albumID=12; # begins a comment. Each is sent to both
servers, four at a time. Only reads are sent; any other line counts as trouble, and so does a reply that cannot be read.
The first 10 differences of each operation are printed. docs/moving-in.md has the rules that allow differences.

The exit status is that of diff: 0 if no reply differs, 1 if some do, 2 if there was trouble or nothing was compared.`
}

func (c *compareCommand) Run(ctx context.Context, connection *Connection, in io.Reader, out *output.Printer,
	report progress.Reporter) (err error) {
	options := compare.Options{Old: c.Old, New: c.New, Timeout: connection.Timeout}
	if options.Timeout <= 0 {
		return usageError("--timeout must be more than 0")
	}
	if options.Zone, err = time.LoadLocation(c.TimeZone); err != nil {
		return usageError("--time-zone: " + err.Error())
	}
	found, failed := compare.Run(ctx, options, c.File, in, report)
	if err := printComparison(out, found); err != nil {
		return err
	}
	compared := found.Same + found.Allowed + found.Different
	switch {
	case failed != nil:
		return failed
	case found.Trouble > 0 || compared == 0:
		return fmt.Errorf("%d requests were compared, %d were not; %d replies differ", compared, found.Trouble,
			found.Different)
	case found.Different > 0:
		return differentError(fmt.Sprintf("%d of %d replies differ", found.Different, compared))
	}
	return nil
}

func printComparison(out *output.Printer, found compare.Summary) error {
	return out.Value(found, func(page *output.Page) {
		for _, each := range slices.Concat(found.Differences, found.Troubles) {
			page.Line(fmt.Sprintf("line %d: %s: %s", each.Line, each.Request, each.Text))
		}
		for _, name := range slices.Sorted(maps.Keys(found.NotShown)) {
			page.Line(fmt.Sprintf("%d more differences of %s are not shown", found.NotShown[name], name))
		}
		counts := fmt.Sprintf("%d the same, %d allowed, %d different, %d trouble", found.Same, found.Allowed,
			found.Different, found.Trouble)
		for _, rule := range slices.Sorted(maps.Keys(found.Rules)) {
			counts += fmt.Sprintf("; %s in %d", rule, found.Rules[rule])
		}
		page.Line(counts)
	})
}
