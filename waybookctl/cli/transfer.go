package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/waybook/waybook/moving/send"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
	"github.com/waybook/waybook/waybookctl/atomicfile"
	"github.com/waybook/waybook/waybookctl/landmarkfile"
	"github.com/waybook/waybook/waybookctl/output"
	"github.com/waybook/waybook/waybookctl/progress"
	"github.com/waybook/waybook/waybookctl/transfer"
)

// fileFormat selects the format of a landmark file.
type fileFormat struct {
	Format string `enum:",geojson,json,ndjson,csv" default:"" placeholder:"FORMAT" help:"Format of the file: geojson, json (an array), ndjson (an object in each line) or csv. Derived from the file name when not given."`
}

func (f fileFormat) of(path string) (landmarkfile.Format, error) {
	if f.Format != "" {
		return landmarkfile.Format(f.Format), nil
	}
	if path == "-" {
		return "", usageError("standard input and output have no file name to derive a format from; give --format")
	}
	format, err := landmarkfile.FormatOf(path)
	if err != nil {
		return "", usageError(err.Error() + " with --format")
	}
	return format, nil
}

type landmarkImport struct {
	fileFormat `embed:""`

	File          string                  `arg:"" help:"File to read; - for standard input."`
	Owner         int64                   `required:"" xor:"owner" placeholder:"USER" help:"User who will own the landmarks."`
	OwnerField    string                  `required:"" xor:"owner" placeholder:"FIELD" help:"Field with the user who will own the landmark; owner_id in files of landmark export --ids."`
	Category      word[poiv1.PoiCategory] `placeholder:"CATEGORY" help:"Category of the landmarks whose record has none."`
	KeyField      string                  `placeholder:"FIELD" help:"Field with the landmark's unique key; id or key by default, if present."`
	NameField     string                  `placeholder:"FIELD" help:"Field with the name; name by default."`
	LatField      string                  `placeholder:"FIELD" help:"Field with the latitude; lat or latitude by default."`
	LngField      string                  `placeholder:"FIELD" help:"Field with the longitude; lng, lon or longitude by default."`
	CategoryField string                  `placeholder:"FIELD" help:"Field with the category; category by default."`
	Delimiter     string                  `enum:",comma,semicolon,tab" default:"" placeholder:"DELIMITER" help:"Separator of csv fields: comma, semicolon or tab. Detected from the first line when not given."`
	Update        bool                    `help:"Change the landmarks that have a key of the file and another name, category or location."`
	Prune         bool                    `help:"Delete the imported landmarks of the owner whose keys the file does not have, with their photos and comments."`
	DryRun        bool                    `help:"Change nothing, and report what would be done."`
	SkipInvalid   bool                    `help:"Skip invalid records and import the others."`
	MaxInput      int64                   `default:"${max_spool}" placeholder:"BYTES" help:"Limit of standard input in bytes; ${default} by default."`
}

// Help returns the detailed help.
func (*landmarkImport) Help() string {
	return `The command checks the whole file before it sends anything; for that, it copies standard input to a temporary file.
To resume an interrupted import, run it again. It recognises existing landmarks by their keys, or by their content if
the file has no keys, and leaves them unchanged. It refuses a place whose key a landmark with other content has, unless
--update changes the landmark.

--prune needs --owner. It never deletes landmarks that were not imported. It deletes nothing if a record was invalid or
refused, or if the file has no places.`
}

// Run imports the file.
func (c *landmarkImport) Run(ctx context.Context, call *services, in io.Reader, out *output.Printer, report progress.Reporter) error {
	format, err := c.of(c.File)
	if err != nil {
		return err
	}
	if c.Prune && c.Owner == 0 {
		return usageError("--prune deletes landmarks of one owner; give --owner")
	}
	source, err := transfer.Open(ctx, c.File, in, c.MaxInput)
	if err != nil {
		return err
	}
	defer func() { _ = source.Close() }() // it was only read
	summary, err := transfer.Import(ctx, call.Poi, source, transfer.ImportOptions{
		OwnerID: c.Owner, SkipInvalid: c.SkipInvalid, Update: c.Update, Prune: c.Prune, DryRun: c.DryRun,
		File: landmarkfile.Options{
			Format: format, Category: landmarkfile.Category(c.Category.value), Delimiter: delimiters[c.Delimiter],
			Fields: landmarkfile.Fields{Key: c.KeyField, Name: c.NameField, Lat: c.LatField, Lng: c.LngField, Category: c.CategoryField, Owner: c.OwnerField},
		},
	}, report)
	if notPruned, isNotPruned := errors.AsType[*transfer.NotPrunedError](err); isNotPruned {
		if err := c.print(out, summary); err != nil {
			return err
		}
		return refusedError(notPruned.Error())
	}
	if err != nil {
		if summary.Acknowledged() > 0 {
			out.Note("%d of %d places are done: run the import again to resume; it recognises them", summary.Acknowledged(), summary.Checked.Places)
		}
		return err
	}
	return c.print(out, summary)
}

var delimiters = map[string]byte{"": 0, "comma": ',', "semicolon": ';', "tab": '\t'}

func (c *landmarkImport) print(out *output.Printer, summary *transfer.ImportSummary) error {
	for _, problem := range summary.Checked.Problems {
		out.Note("%s", output.Visible(fmt.Sprint(problem)))
	}
	for _, failure := range summary.Failures {
		out.Note("%s", output.Visible(failure.String()))
	}
	err := out.Value(output.Object{
		{Name: "created_count", Value: summary.Created},
		{Name: "updated_count", Value: summary.Updated},
		{Name: "pruned_count", Value: summary.Pruned},
		{Name: "kept_count", Value: summary.Kept},
		{Name: "unchanged_count", Value: summary.Unchanged},
		{Name: "refused_count", Value: summary.Failed},
		{Name: "invalid_count", Value: summary.Checked.ProblemCount},
		{Name: "duplicate_count", Value: summary.Checked.Duplicates},
		{Name: "repeated_calls", Value: summary.Repeated},
	}, func(page *output.Page) { page.Line(summary.String()) })
	if err == nil && summary.Failed > 0 {
		return refusedError(fmt.Sprintf("%d of %d places were refused", summary.Failed, summary.Acknowledged()))
	}
	return err
}

type landmarkExport struct {
	fileFormat `embed:""`

	newFile  `embed:""`
	File     string                  `arg:"" help:"File to write; - for standard output. It appears only when complete."`
	Owner    int64                   `placeholder:"USER" help:"Only landmarks of this user."`
	Category word[poiv1.PoiCategory] `placeholder:"CATEGORY" help:"Only landmarks of this category."`
	IDs      bool                    `name:"ids" help:"Also write the identifiers of each landmark and its owner, as poi_id and owner_id."`
}

// Help returns the detailed help.
func (*landmarkExport) Help() string {
	return `The file lists landmarks in the order of their owners and keys, with the keys that landmark import recognises. If you
import an owner's export into an empty store, exporting again gives the same file, unless it has identifiers: imported
landmarks get new ones. Different owners may use the same key: to import an export of all owners, write it with --ids and
give landmark import --owner-field owner_id.`
}

// Run exports the landmarks.
func (c *landmarkExport) Run(ctx context.Context, call *services, out *output.Printer, report progress.Reporter) error {
	format, err := c.of(c.File)
	if err != nil {
		return err
	}
	if err := c.check(c.File); err != nil {
		return err
	}
	options := transfer.ExportOptions{OwnerID: c.Owner, Category: landmarkfile.Category(c.Category.value), Format: format, Stdout: out.Out}
	if c.IDs {
		options.IDs = landmarkfile.WithIDs
	}
	count, err := transfer.ExportFile(ctx, call.Poi, options, c.File, report)
	return printExported(out, c.File, "%d exported", count, err)
}

// describeFile describes an invalid file.
func describeFile(invalid *transfer.InvalidFileError) failure {
	f := failure{statusRefused, "nothing was imported: the file has problems", invalid.Lines()}
	if invalid.Checked.Broken == nil {
		f.details = append(f.details, "correct these records, or leave them out with --skip-invalid")
	}
	return f
}

type userExport struct {
	newFile `embed:""`
	User    int64  `arg:"" help:"The user's identifier."`
	File    string `arg:"" help:"File to write; - for standard output. It appears only when complete, and only you can read it."`
}

// Help returns the detailed help.
func (*userExport) Help() string {
	return `The file has the format that move import reads: an object in each line, with the user, rewards, and the user's albums,
entries and landmarks with their photos, comments, votes and recommendations.

It has no password, no session, and not what the user wrote in the content of others.`
}

// Run exports the data.
func (c *userExport) Run(ctx context.Context, call *services, out *output.Printer) error {
	if err := c.check(c.File); err != nil {
		return err
	}
	var count int64
	err := atomicfile.WriteTo(out.Out, c.File, 0o600, func(file io.Writer) (err error) {
		count, err = send.ExportPerson(ctx, call.Services, c.User, file)
		return err
	})
	return printExported(out, c.File, "%d records exported", count, err)
}

// printExported prints how much was exported, unless that was to standard output.
func printExported(out *output.Printer, path, line string, count int64, err error) error {
	if err != nil || path == "-" {
		return err
	}
	return out.Value(output.Object{{Name: "exported_count", Value: count}}, func(page *output.Page) { page.Line(fmt.Sprintf(line, count)) })
}

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
		count, err = send.ExportSince(ctx, call.Services, c.Since, zone, file, report)
		return err
	})
	return printExported(out, c.File, "%d records exported", count, err)
}

// newFile is for commands that write a file which their user names.
type newFile struct {
	Force bool `help:"Replace the file to write if it exists."`
}

// check refuses a file that exists, unless --force is set. A device or a pipe is written to.
func (f newFile) check(path string) error {
	info, err := os.Stat(path)
	if path == "-" || f.Force || err != nil || !info.Mode().IsRegular() {
		return nil
	}
	return fmt.Errorf("the file %s exists; name another one, or replace it with --force", path)
}

// regular returns a file that can be read more than once: the one that is named, or a copy of standard
// input for -, which remove removes.
func regular(path string, in io.Reader) (_ string, remove func() error, err error) {
	if path != "-" {
		return path, func() error { return nil }, nil
	}
	file, err := os.CreateTemp("", "waybook-input-")
	if err != nil {
		return "", nil, err
	}
	remove = func() error { return os.Remove(file.Name()) }
	copied, err := io.Copy(file, io.LimitReader(in, transfer.DefaultMaxSpoolBytes+1))
	if err = errors.Join(err, file.Close()); err == nil && copied > transfer.DefaultMaxSpoolBytes {
		err = fmt.Errorf("standard input has more than %d bytes; name a file", int64(transfer.DefaultMaxSpoolBytes))
	}
	if err != nil {
		return "", nil, errors.Join(err, remove())
	}
	return file.Name(), remove, nil
}
