package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/waybook/waybook/internal/progress"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
	"github.com/waybook/waybook/waybookctl/atomicfile"
	"github.com/waybook/waybook/waybookctl/landmarkfile"
	"github.com/waybook/waybook/waybookctl/output"
	"github.com/waybook/waybook/waybookctl/transfer"
)

// maxStandardInput bounds standard input that is copied to a temporary file.
const maxStandardInput = 4 << 30

// fileFormat selects the format of a landmark file.
type fileFormat struct {
	Format string `enum:",geojson,ndjson,csv" default:"" placeholder:"FORMAT" help:"Format of the file: geojson, ndjson (a record in each line) or csv. Derived from the file name when not given."`
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

	File        string                  `arg:"" help:"File to read; - for standard input."`
	Owner       int64                   `required:"" placeholder:"USER" help:"User who will own the landmarks."`
	Category    word[poiv1.PoiCategory] `placeholder:"CATEGORY" help:"Category of the landmarks whose record has none."`
	Update      bool                    `help:"Change the landmarks that have a key of the file and another name, category or location."`
	DryRun      bool                    `help:"Change nothing, and report what would be done."`
	SkipInvalid bool                    `help:"Skip invalid records and import the others."`
}

func (*landmarkImport) Help() string {
	return `The columns of csv and the members of ndjson are ` + landmarkfile.Columns() +
		`. A GeoJSON Feature has its key as
its id, its location as a Point, and the others as properties. Without a key, a landmark is known by its content.

The command checks the whole file before it sends anything; for that, it copies standard input to a temporary file.
After a failure, run it again: it leaves landmarks that it recognises unchanged. It refuses a place whose key a landmark
with other content has, unless --update changes the landmark.`
}

func (c *landmarkImport) Run(ctx context.Context, call *services, in io.Reader, out *output.Printer,
	report progress.Reporter) (err error) {
	format, err := c.of(c.File)
	if err != nil {
		return err
	}
	path, remove, err := regular(c.File, in)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, remove()) }()
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }() // it was only read
	summary, err := transfer.Import(ctx, call.Poi, file, transfer.ImportOptions{
		OwnerID: c.Owner, SkipInvalid: c.SkipInvalid, Update: c.Update, DryRun: c.DryRun,
		File: landmarkfile.Options{Format: format, Category: c.Category.value},
	}, report)
	if err != nil {
		return err
	}
	return c.print(out, summary)
}

func (c *landmarkImport) print(out *output.Printer, summary *transfer.ImportSummary) error {
	for _, problem := range summary.Problems {
		out.Note("%s", output.Visible(problem))
	}
	counts := output.Object{
		{Name: "created_count", Value: summary.Created},
		{Name: "updated_count", Value: summary.Updated},
		{Name: "unchanged_count", Value: summary.Unchanged},
		{Name: "refused_count", Value: summary.Refused},
		{Name: "invalid_count", Value: summary.Invalid},
		{Name: "duplicate_count", Value: summary.Repeated},
	}
	err := out.Value(counts, func(page *output.Page) {
		line := fmt.Sprintf("%d created, %d updated, %d unchanged, %d refused, %d invalid, %d repeated in the file",
			summary.Created, summary.Updated, summary.Unchanged, summary.Refused, summary.Invalid, summary.Repeated)
		if c.DryRun {
			line = "dry run, nothing was changed: " + line
		}
		page.Line(line)
	})
	if err == nil && summary.Refused > 0 {
		return refusedError(fmt.Sprintf("%d of %d places were refused", summary.Refused, summary.Acknowledged()))
	}
	return err
}

type landmarkExport struct {
	fileFormat `embed:""`

	newFile `embed:""`
	File    string `arg:"" help:"File to write; - for standard output. It appears only when complete."`
	Owner   int64  `required:"" placeholder:"USER" help:"Owner of the landmarks."`
}

func (*landmarkExport) Help() string {
	return `Each landmark has the key that landmark import recognises: that of its import, or poi: and its identifier.`
}

func (c *landmarkExport) Run(ctx context.Context, call *services, out *output.Printer,
	report progress.Reporter) error {
	format, err := c.of(c.File)
	if err != nil {
		return err
	}
	if err := c.check(c.File); err != nil {
		return err
	}
	var count int64
	err = atomicfile.WriteTo(out.Out, c.File, 0o666, func(file io.Writer) (err error) {
		count, err = transfer.Export(ctx, call.Poi, c.Owner, format, file, report)
		return err
	})
	return printExported(out, c.File, "%d exported", count, err)
}

// describeFile describes an invalid file.
func describeFile(invalid *transfer.InvalidFileError) failure {
	f := failure{statusRefused, "nothing was imported: the file has problems", invalid.Problems}
	if invalid.IsSkippable {
		f.details = append(f.details, "correct these records, or leave them out with --skip-invalid")
	}
	return f
}

// printExported prints how much was exported, unless that was to standard output.
func printExported(out *output.Printer, path, line string, count int64, err error) error {
	if err != nil || path == "-" {
		return err
	}
	return out.Value(output.Object{{Name: "exported_count", Value: count}},
		func(page *output.Page) { page.Line(fmt.Sprintf(line, count)) })
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

// regular returns a file that can be read more than once: the one that is named, or a copy of a
// pipe or of standard input (-), which remove removes.
func regular(path string, in io.Reader) (_ string, remove func() error, err error) {
	if path != "-" {
		info, err := os.Stat(path)
		switch {
		case err != nil:
			return "", nil, err
		case info.IsDir():
			return "", nil, fmt.Errorf("%s is a directory; name a file in it", path)
		case info.Mode().IsRegular():
			return path, func() error { return nil }, nil
		}
		pipe, err := os.Open(path)
		if err != nil {
			return "", nil, err
		}
		defer func() { _ = pipe.Close() }() // it was only read
		in = pipe
	}
	file, err := os.CreateTemp("", "waybook-input-")
	if err != nil {
		return "", nil, err
	}
	remove = func() error { return os.Remove(file.Name()) }
	copied, err := io.Copy(file, io.LimitReader(in, maxStandardInput+1))
	if err = errors.Join(err, file.Close()); err == nil && copied > maxStandardInput {
		err = fmt.Errorf("the input has more than %d bytes; name a file", int64(maxStandardInput))
	}
	if err != nil {
		return "", nil, errors.Join(err, remove())
	}
	return file.Name(), remove, nil
}
