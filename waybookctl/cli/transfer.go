package cli

import (
	"context"
	"fmt"
	"io"

	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
	"github.com/waybook/waybook/waybookctl/landmarkfile"
	"github.com/waybook/waybook/waybookctl/output"
	"github.com/waybook/waybook/waybookctl/progress"
	"github.com/waybook/waybook/waybookctl/transfer"
)

// fileFormat is how a file of landmarks is written.
type fileFormat struct {
	Format string `enum:",geojson,json,ndjson,csv" default:"" placeholder:"FORMAT" help:"How the file is written: geojson, json (an array), ndjson (an object a line) or csv; else its name tells."`
}

func (f fileFormat) of(path string) (landmarkfile.Format, error) {
	if f.Format != "" {
		return landmarkfile.ParseFormat(f.Format)
	}
	if path == "-" {
		return "", usageError("standard input and output have no name that tells their format: give --format")
	}
	format, err := landmarkfile.FormatOf(path)
	if err != nil {
		return "", usageError(err.Error() + " with --format")
	}
	return format, nil
}

type landmarkImport struct {
	fileFormat `embed:""`

	File          string                  `arg:"" help:"The file, - for standard input."`
	Owner         int64                   `required:"" placeholder:"USER" help:"Who will own the landmarks."`
	Category      word[poiv1.PoiCategory] `placeholder:"CATEGORY" help:"What those are that have no category of their own."`
	KeyField      string                  `placeholder:"FIELD" help:"Which field tells a landmark from others; id or key, if there is one."`
	NameField     string                  `placeholder:"FIELD" help:"Which field is the name; name, if not given."`
	LatField      string                  `placeholder:"FIELD" help:"Which field is the latitude; lat or latitude, if not given."`
	LngField      string                  `placeholder:"FIELD" help:"Which field is the longitude; lng, lon or longitude, if not given."`
	CategoryField string                  `placeholder:"FIELD" help:"Which field is the category; category, if not given."`
	Delimiter     string                  `enum:",comma,semicolon,tab" default:"" placeholder:"DELIMITER" help:"What separates the fields of csv: comma, semicolon or tab; else the first line tells."`
	SkipInvalid   bool                    `help:"Import the rest of a file in which some records are not valid."`
	MaxInput      int64                   `default:"${max_spool}" placeholder:"BYTES" help:"How much of standard input is taken, ${default} by default."`
}

// Help tells what may be relied on.
func (*landmarkImport) Help() string {
	return `The whole file is checked before anything is sent; standard input is kept in a temporary file for that.
An import that was interrupted is run again: what is there already is recognised by its key, or, where the file has
no keys, by its content, and is left unchanged.`
}

// Run imports the file.
func (c *landmarkImport) Run(ctx context.Context, call *services, in io.Reader, out *output.Printer, report progress.Reporter) error {
	format, err := c.of(c.File)
	if err != nil {
		return err
	}
	source, err := transfer.Open(ctx, c.File, in, c.MaxInput)
	if err != nil {
		return err
	}
	defer func() { _ = source.Close() }() // it was only read
	summary, err := transfer.Import(ctx, call.poi, source, transfer.ImportOptions{
		OwnerID: c.Owner, SkipInvalid: c.SkipInvalid,
		File: landmarkfile.Options{
			Format: format, Category: landmarkfile.Category(c.Category.value), Delimiter: delimiters[c.Delimiter],
			Fields: landmarkfile.Fields{Key: c.KeyField, Name: c.NameField, Lat: c.LatField, Lng: c.LngField, Category: c.CategoryField},
		},
	}, report)
	if err != nil {
		if summary.Acknowledged() > 0 {
			out.Note("%d of %d places are done: run the import again to go on, it recognises them", summary.Acknowledged(), summary.Checked.Places)
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

	File     string                  `arg:"" help:"The file, - for standard output. It appears once it is whole."`
	Owner    int64                   `placeholder:"USER" help:"Only landmarks of this user."`
	Category word[poiv1.PoiCategory] `placeholder:"CATEGORY" help:"Only landmarks of this category."`
}

// Help tells what may be relied on.
func (*landmarkExport) Help() string {
	return `Landmarks come in creation order, with the keys by which landmark import recognises them. Importing an owner's
export into an empty store makes landmarks whose export is the same again. Keys of different owners may be alike.`
}

// Run exports.
func (c *landmarkExport) Run(ctx context.Context, call *services, out *output.Printer, report progress.Reporter) error {
	format, err := c.of(c.File)
	if err != nil {
		return err
	}
	options := transfer.ExportOptions{OwnerID: c.Owner, Category: landmarkfile.Category(c.Category.value), Format: format}
	if c.File == "-" {
		_, err = transfer.Export(ctx, call.poi, options, out.Out, report)
		return err
	}
	count, err := transfer.ExportFile(ctx, call.poi, options, c.File, report)
	if err != nil {
		return err
	}
	return out.Value(output.Object{{Name: "exported_count", Value: count}},
		func(page *output.Page) { page.Line(fmt.Sprintf("%d exported", count)) })
}

// refusedError is what a service refused, in part or whole.
type refusedError string

// Error says what.
func (e refusedError) Error() string { return string(e) }

// describeFile tells what is wrong with a file.
func describeFile(invalid *transfer.InvalidFileError) failure {
	f := failure{status: statusRefused, message: "nothing was imported: the file has problems"}
	for _, problem := range invalid.Checked.Problems {
		f.details = append(f.details, fmt.Sprint(problem))
	}
	if more := invalid.Checked.ProblemCount - int64(len(invalid.Checked.Problems)); more > 0 {
		f.details = append(f.details, fmt.Sprintf("and %d more", more))
	}
	if invalid.Checked.Broken == nil {
		f.details = append(f.details, "correct these records, or leave them out with --skip-invalid")
	}
	return f
}
