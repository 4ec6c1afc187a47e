package cli

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strconv"
	"strings"

	"github.com/waybook/waybook/internal/content/integrity"
	"github.com/waybook/waybook/internal/platform/service"
	"github.com/waybook/waybook/internal/progress"
	"github.com/waybook/waybook/waybookctl/output"
	"github.com/waybook/waybook/waybookctl/storekeeping"
	"github.com/waybook/waybook/waybookctl/storekeeping/dumpfile"
)

type storeCommands struct {
	Prepare storePrepare `cmd:"" help:"Create the collections and indexes that the services need, and shard the collections that need it."`
	Check   storeCheck   `cmd:"" help:"Look for missing indexes, orphans and wrong counts; repair them with --fix."`
	Backup  storeBackup  `cmd:"" help:"Copy the embedded store of a running service to a file."`
	Restore storeRestore `cmd:"" help:"Put a backup in the place of an embedded store."`
	Compact storeCompact `cmd:"" help:"Return the free space of an embedded store's file to the file system."`
	Dump    storeDump    `cmd:"" help:"Write all documents of a store to a file, as a backup or to load elsewhere."`
	Load    storeLoad    `cmd:"" help:"Fill an empty store from a file that dump wrote."`

	Renew storeRenew `cmd:"" help:"After a restore by other tools: make followers of changes start anew."`
}

// storeChoice selects the store with the names of the services' own flags.
type storeChoice struct {
	Data       string   `twin:"" default:"waybook-data" placeholder:"DIRECTORY" help:"Directory of the embedded store, ${default} by default. No service may have it open."`
	MongoDBURI string   `twin:"" name:"mongodb-uri" placeholder:"URI" help:"URI of the services' MongoDB, used instead of the embedded store."`
	Service    []string `placeholder:"SERVICE" enum:"account,album,blog,poi" help:"Only the collections of these services. Required for the embedded store of a single service."`
}

func (storeChoice) Help() string {
	return `The command opens the store directly, as a service does. It calls no service.`
}

func (c storeChoice) options(out *output.Printer) storekeeping.Options {
	return storekeeping.Options{Store: service.StoreFlags{Data: c.Data, MongoDBURI: c.MongoDBURI, Log: warnings(out)},
		Services: c.Service}
}

// warnings returns a log of what the user should know while a command waits.
func warnings(out *output.Printer) *slog.Logger {
	return slog.New(slog.NewTextHandler(out.Notes, &slog.HandlerOptions{Level: slog.LevelWarn}))
}

// summed reports the number of documents read so far.
func summed(report progress.Reporter) func(documents int) {
	sum := int64(0)
	return func(documents int) {
		sum += int64(documents)
		report.Reach(sum)
	}
}

type storePrepare struct {
	storeChoice `embed:""`
}

func (c *storePrepare) Run(ctx context.Context, out *output.Printer) error {
	prepared, err := storekeeping.Prepare(ctx, c.options(out))
	if err != nil {
		return err
	}
	return out.Value(prepared, func(page *output.Page) {
		heads := []string{"SERVICE", "COLLECTION", "STATE", "INDEXES MADE", "PLACEMENT"}
		output.Rows(page, heads, prepared.Collections, func(p storekeeping.PreparedCollection) []string {
			return []string{p.Service, p.Name, stateOf(p), strings.Join(p.IndexesMade, " "), p.Placement}
		})
	})
}

func stateOf(p storekeeping.PreparedCollection) string {
	if p.Made {
		return "made"
	}
	return "was there"
}

type storeCheck struct {
	storeChoice `embed:""`

	Fix bool `help:"Create missing indexes and remove orphans."`
}

// Run checks the store. The exit status is 1 if faults remain.
func (c *storeCheck) Run(ctx context.Context, out *output.Printer, report progress.Reporter) error {
	mode := integrity.Look
	if c.Fix {
		mode = integrity.Repair
	}
	options := c.options(out)
	options.Progress = summed(report)
	report.Start("checking", progress.Documents, 0)
	checked, err := storekeeping.Check(ctx, options, mode)
	report.Finish()
	if err != nil {
		return err
	}
	err = out.Value(checked, func(page *output.Page) {
		heads := []string{"SERVICE", "COLLECTION", "DOCUMENTS", "INDEXES OF OTHERS"}
		output.Rows(page, heads, checked.Collections, func(r storekeeping.CollectionReport) []string {
			return []string{r.Service, r.Name, number(r.Documents), strings.Join(r.Undeclared, " ")}
		})
		if unnamed := unnamedFiles(checked.Collections); unnamed > 0 {
			page.Text(fmt.Sprintf("Nothing names %d files; a sweep of the service deletes them within two days.",
				unnamed))
		}
		heads = []string{"FAULT", "COLLECTION", "COUNT", "MENDED", "OF", "WHAT"}
		output.Rows(page, heads, checked.Findings, func(f integrity.Finding) []string {
			return []string{string(f.Kind), f.Collection, number(f.Count), number(f.Repaired), ids(f.Parents),
				f.Detail}
		})
		if isWorthCompacting(checked.FileBytes, checked.FreeBytes) {
			page.Text(fmt.Sprintf("Of %s in the file, %s are free; waybookctl store compact returns them.",
				mebibytes(checked.FileBytes), mebibytes(checked.FreeBytes)))
		}
		page.Text(verdict(checked.Findings))
	})
	return cmp.Or(err, remaining(checked.Findings))
}

func unnamedFiles(collections []storekeeping.CollectionReport) (sum int64) {
	for _, c := range collections {
		sum += c.UnnamedFiles
	}
	return sum
}

// isWorthCompacting reports whether a compaction returns much space to the file system: at least
// half of a file, and 64 MiB.
func isWorthCompacting(bytes, free int64) bool { return free >= 64<<20 && free >= bytes/2 }

func verdict(findings []integrity.Finding) string {
	switch {
	case len(findings) == 0:
		return "The store is clean."
	case remaining(findings) == nil:
		return "The store is mended."
	}
	return "The store is not clean."
}

// remaining returns an error if faults remain. It suggests --fix only for what that mends.
func remaining(findings []integrity.Finding) error {
	left := slices.DeleteFunc(slices.Clone(findings), func(f integrity.Finding) bool { return f.Repaired == f.Count })
	switch {
	case len(left) == 0:
		return nil
	case slices.ContainsFunc(left, func(f integrity.Finding) bool {
		return f.Kind != integrity.WrongTally && f.Kind != storekeeping.MissingFile
	}):
		return errors.New("the store has faults; run again with --fix to repair those that can be repaired")
	}
	return errors.New("the store has faults that --fix can't repair")
}

func ids(list []int64) string {
	words := make([]string, len(list))
	for i, id := range list {
		words[i] = strconv.FormatInt(id, 10)
	}
	return strings.Join(words, " ")
}

type storeDump struct {
	storeChoice `embed:""`

	newFile `embed:""`
	Photos  string `placeholder:"DIRECTORY" help:"Copy the files of uploaded photos to this directory too."`
	File    string `arg:"" help:"File to write; - for standard output. It appears only when complete, and only its owner can read it, because it holds hashes of passwords."`
}

func (*storeDump) Help() string {
	return `The file does not depend on the kind of store: equal stores produce equal files. The embedded store must not be open in
a service. On MongoDB, services may keep running, but the file then shows no single moment and may hold parts of concurrent
changes. Where that matters, stop the services or use mongodump --oplog.`
}

func (c *storeDump) Run(ctx context.Context, out *output.Printer, report progress.Reporter) error {
	if err := c.check(c.File); err != nil {
		return err
	}
	options := c.options(out)
	options.Progress, options.Stdout, options.Photos = summed(report), out.Out, c.Photos
	left := int64(0)
	options.LeftOut = func(files int64) { left = files }
	report.Start("dumping", progress.Documents, 0)
	contents, err := storekeeping.Dump(ctx, options, c.File)
	report.Finish()
	if err != nil {
		return err
	}
	if left > 0 {
		out.Note("the dump has no files: %d files of photos and icons stay behind; copy them with --photos DIRECTORY",
			left)
	}
	if c.File == "-" {
		return nil
	}
	return printCollections(out, contents.Collections,
		output.Object{{Name: "sha256", Value: hex.EncodeToString(contents.Sum[:])}})
}

type storeLoad struct {
	storeChoice `embed:""`

	Photos string `placeholder:"DIRECTORY" type:"existingdir" help:"Load the files of uploaded photos from this directory, which dump wrote."`
	File   string `arg:"" type:"existingfile" help:"A file that dump wrote; - for standard input, which is copied to a temporary file first."`
}

func (*storeLoad) Help() string {
	return `The whole file is verified before anything is written. A store that holds other data is refused. To resume an
interrupted load, run it again. No service starts on the store before a load has succeeded.`
}

func (c *storeLoad) Run(ctx context.Context, out *output.Printer, report progress.Reporter, in io.Reader) (err error) {
	path, remove, err := regular(c.File, in)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, remove()) }()
	options := c.options(out)
	options.Progress, options.Photos = summed(report), c.Photos
	report.Start("verifying", progress.Documents, 0)
	dump, err := storekeeping.OpenDump(ctx, options, path)
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
	sum := dumpfile.Contents{Collections: collections}.Documents()
	object := append(output.Object{{Name: "documents", Value: sum}, {Name: "collections", Value: collections}},
		more...)
	return out.Value(object, func(page *output.Page) {
		output.Rows(page, []string{"COLLECTION", "DOCUMENTS"}, collections, func(c dumpfile.Collection) []string {
			return []string{c.Name, number(c.Documents)}
		})
		page.Text(fmt.Sprintf("%d documents in all.", sum))
	})
}
