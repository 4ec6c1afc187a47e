package cli

import (
	"context"
	"encoding/hex"
	"fmt"

	"github.com/waybook/waybook/waybookctl/output"
	"github.com/waybook/waybook/waybookctl/progress"
	"github.com/waybook/waybook/waybookctl/storekeeping"
	"github.com/waybook/waybook/waybookctl/storekeeping/dumpfile"
)

type storeDump struct {
	storeChoice `embed:""`

	File string `arg:"" help:"File to write. It appears only when complete, and only its owner can read it, because it holds hashes of passwords."`
}

// Help returns the detailed help.
func (*storeDump) Help() string {
	return `The file does not depend on the kind of store: equal stores produce equal files. The embedded store must not be open in
a service. On MongoDB, services may keep running, but the file then shows no single moment and may hold parts of concurrent
changes. Where that matters, stop the services or use mongodump --oplog.`
}

// Run dumps the store.
func (c *storeDump) Run(ctx context.Context, out *output.Printer, report progress.Reporter) error {
	options := c.options()
	options.Progress = summed(report)
	report.Start("dumping", progress.Documents, 0)
	contents, err := storekeeping.Dump(ctx, options, c.File)
	report.Finish()
	if err != nil {
		return err
	}
	return printCollections(out, contents.Collections, output.Object{{Name: "sha256", Value: hex.EncodeToString(contents.Sum[:])}})
}

type storeLoad struct {
	storeChoice `embed:""`

	File string `arg:"" type:"existingfile" help:"A file that dump wrote."`
}

// Help returns the detailed help.
func (*storeLoad) Help() string {
	return `The whole file is verified before anything is written. A store that holds other data is refused. To resume an
interrupted load, run it again. No service starts on the store before a load has succeeded.`
}

// Run loads the file.
func (c *storeLoad) Run(ctx context.Context, out *output.Printer, report progress.Reporter) error {
	options := c.options()
	options.Progress = summed(report)
	report.Start("verifying", progress.Documents, 0)
	dump, err := storekeeping.OpenDump(ctx, options, c.File)
	report.Finish()
	if err != nil {
		return err
	}
	defer func() { _ = dump.Close() }() // it was only read
	options.Progress = summed(report)
	report.Start("loading", progress.Documents, dump.Documents())
	loaded, err := dump.Load(ctx, options)
	report.Finish()
	if err != nil {
		if ctx.Err() != nil {
			out.Note("the store may be incomplete: load the file again to resume")
		}
		return err
	}
	return printCollections(out, loaded, nil)
}

// printCollections prints the number of documents in each collection, and the fields in more.
func printCollections(out *output.Printer, collections []dumpfile.Collection, more output.Object) error {
	value, err := output.FromJSON(collections)
	if err != nil {
		return err
	}
	sum := dumpfile.Contents{Collections: collections}.Documents()
	object := append(output.Object{{Name: "documents", Value: sum}, {Name: "collections", Value: value}}, more...)
	return out.Value(object, func(page *output.Page) {
		output.Rows(page, []output.Column[dumpfile.Collection]{
			{Head: "COLLECTION", Cell: func(c dumpfile.Collection) string { return c.Name }},
			{Head: "DOCUMENTS", Cell: func(c dumpfile.Collection) string { return number(c.Documents) }},
		}, collections)
		page.Text(fmt.Sprintf("%d documents in all.", sum))
	})
}
