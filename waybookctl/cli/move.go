package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/waybook/waybook/internal/progress"
	"github.com/waybook/waybook/moving/importer"
	photov1 "github.com/waybook/waybook/proto/gen/waybook/photo/v1"
	"github.com/waybook/waybook/waybookctl/atomicfile"
	"github.com/waybook/waybook/waybookctl/output"
)

type moveCommands struct {
	Check  moveCheck  `cmd:"" help:"Read the files of an old service, and report what they hold and what is wrong."`
	Import moveImport `cmd:"" help:"Move what the files hold into Waybook, with its identifiers."`
}

// moveFiles are the flags of the commands that read the files of an old service.
type moveFiles struct {
	Files    []string `arg:"" name:"file" help:"Files to read, in order: NDJSON, plain or compressed by gzip or zstd. A check takes - for standard input."`
	Repair   bool     `help:"Mend what can be mended. What was mended is counted by rule, and --problems lists it."`
	TimeZone string   `default:"Asia/Taipei" placeholder:"ZONE" help:"Time zone of times in the files that name none; ${default} by default."`
	Problems string   `placeholder:"FILE" help:"File to write all problems to, as NDJSON; - for standard output. It holds texts of the files."`
	Scratch  string   `placeholder:"DIRECTORY" help:"Where temporary files are, of some 60 bytes for each record; the system's directory by default."`
	Photos   string   `placeholder:"DIRECTORY" help:"Where the files of photos are, such as upload/5/31.jpg of the address /upload/5/31.jpg. They move in, too."`
	newFile  `embed:""`
}

// run has do read the files, and prints its report, even if it fails.
func (f *moveFiles) run(in io.Reader, out *output.Printer, columns []string,
	do func(importer.Input) (*importer.Report, error)) error {
	input := importer.Input{Files: f.Files, Stdin: in, Scratch: f.Scratch, Problems: io.Discard}
	input.Repair = f.Repair
	var err error
	if input.Zone, err = time.LoadLocation(f.TimeZone); err != nil {
		return usageError("--time-zone: " + err.Error())
	}
	if f.Photos != "" {
		if input.Photos, err = os.OpenRoot(f.Photos); err != nil {
			return err
		}
		defer func() { _ = input.Photos.Close() }() // it was only read
	}
	var report *importer.Report
	if f.Problems == "" {
		report, err = do(input)
	} else {
		if err := f.check(f.Problems); err != nil {
			return err
		}
		if unwritten := atomicfile.WriteTo(out.Out, f.Problems, 0o600, func(to io.Writer) error {
			buffer := bufio.NewWriter(to)
			input.Problems = buffer
			report, err = do(input)
			return buffer.Flush()
		}); unwritten != nil {
			return errors.Join(err, unwritten)
		}
	}
	if report != nil {
		err = errors.Join(err, printReport(out, report, columns))
	}
	switch {
	case err != nil:
		return err
	case report.Unmended() > 0:
		return refusedError(fmt.Sprintf("%d problems", report.Unmended()))
	}
	return nil
}

// printReport prints what the files hold, what is wrong, and what became of it.
func printReport(out *output.Printer, report *importer.Report, columns []string) error {
	heads := []string{"KIND"}
	for _, column := range columns {
		heads = append(heads, strings.ToUpper(strings.ReplaceAll(column, "_", " ")))
	}
	return out.Value(report, func(page *output.Page) {
		output.Rows(page, heads, report.Kinds(), func(kind string) []string {
			cells := []string{kind}
			for _, column := range columns {
				cells = append(cells, number(report.Counts[kind][column]))
			}
			return cells
		})
		printGroups(page, []string{"PROBLEMS", "CLASS"}, report.Problems)
		printGroups(page, []string{"MENDED", "RULE"}, report.Repairs)
	})
}

// printGroups prints how many problems of each name there are, and the first ones.
func printGroups(page *output.Page, heads []string, groups map[string]*importer.Group) {
	names := slices.Sorted(maps.Keys(groups))
	output.Rows(page, heads, names, func(name string) []string { return []string{number(groups[name].Count), name} })
	for _, name := range names {
		for _, problem := range groups[name].First {
			page.Line(lineOf(problem))
		}
	}
}

// lineOf formats a problem.
func lineOf(p importer.Problem) string {
	at := p.File
	if p.Line > 0 {
		at += ":" + number(p.Line)
	}
	parts := []string{at, string(p.Kind), p.ID, p.Field, p.Text}
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), ": ")
}

type moveCheck struct {
	moveFiles `embed:""`
}

func (*moveCheck) Help() string {
	return `The command needs no service. It checks each record alone and against those before it: users come first, then
albums, entries and landmarks, then what belongs to them. It reports with file and line what an import leaves out, and
with --photos the photos whose files are missing.

The exit status is 4 if anything is left out or missing, and 1 if a file cannot be read, or if the end records are missing or
have other numbers. docs/moving-in.md explains the files.`
}

func (c *moveCheck) Run(ctx context.Context, in io.Reader, out *output.Printer, watch progress.Reporter) error {
	return c.run(in, out, importer.Columns()[:2], func(input importer.Input) (*importer.Report, error) {
		return importer.Check(ctx, input, watch)
	})
}

type moveImport struct {
	moveFiles `embed:""`

	Verify  bool `help:"Insert nothing, and report what is missing in Waybook or differs."`
	Yes     bool `help:"Import files that are incomplete by their end records, or have none."`
	Workers int  `default:"8" placeholder:"NUMBER" help:"Limit of the requests at a time; ${default} by default."`
}

func (*moveImport) Help() string {
	return `The command reads the files twice: first as move check does, then to send what has no problem. It inserts what is
not in Waybook, and changes and deletes nothing. If it ends early, run it again. What Waybook has otherwise, what was
deleted there and what a service refuses is reported. With --photos it uploads the files of photos that have none.

The exit status is 4 if anything was left out, is missing, differs, was deleted or refused; with --verify, only if a
record that is not left out, or the file of a photo, is not there or differs. It is 1 if nothing was imported because
a file cannot be read, or lacks records by its end record.`
}

func (c *moveImport) Run(ctx context.Context, call *services, out *output.Printer, watch progress.Reporter) error {
	if c.Workers < 1 || c.Workers > 64 {
		return usageError("--workers must be from 1 to 64")
	}
	never := "absent"
	if c.Verify {
		never = "inserted"
	}
	columns := slices.DeleteFunc(importer.Columns(), func(column string) bool { return column == never })
	err := c.run(nil, out, columns, func(input importer.Input) (*importer.Report, error) {
		return importer.Import(ctx, importer.Options{
			Input: input, Verify: c.Verify, IsWhole: c.Yes, Workers: c.Workers,
			Service: call.MoveIn, Upload: func(ctx context.Context, start *photov1.UploadStart, file io.Reader) error {
				_, err := upload(ctx, call.Photo, start, file)
				return err
			},
		}, watch)
	})
	if errors.Is(err, importer.ErrIncomplete) {
		return fmt.Errorf("nothing was imported: %w; --yes imports what they have", err)
	}
	return err
}
