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

	File string `arg:"" help:"The file, which appears once it is whole; only its owner may read it, as it holds hashes of passwords."`
}

// Help tells what may be relied on.
func (*storeDump) Help() string {
	return `The file does not depend on the kind of store: equal stores make equal files. The embedded store must not be open in
a service. On MongoDB services may go on, but the file is then not of one moment, and what they change meanwhile may be in it
in part: stop them, or use mongodump --oplog, where that matters.`
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

	File string `arg:"" type:"existingfile" help:"The file, which dump wrote."`
}

// Help tells what may be relied on.
func (*storeLoad) Help() string {
	return `The whole file is verified before anything is written, and a store that holds anything else is refused. A load that did
not come to its end is gone on with by running it again. Services may use the store only after a load that succeeded.`
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
			out.Note("the store may not be whole: load the file again to go on")
		}
		return err
	}
	return printCollections(out, loaded, nil)
}

// printCollections prints how much of what was written.
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
