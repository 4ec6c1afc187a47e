package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/waybook/waybook/moving/movefile"
	"github.com/waybook/waybook/moving/send"
	"github.com/waybook/waybook/waybookctl/atomicfile"
	"github.com/waybook/waybook/waybookctl/output"
	"github.com/waybook/waybook/waybookctl/progress"
)

type moveCommands struct {
	Check  moveCheck  `cmd:"" help:"Read the files of an old service, and report what they hold and what is wrong."`
	Import moveImport `cmd:"" help:"Move what the files hold into Waybook, with its identifiers."`
	Export moveExport `cmd:"" help:"Write what was made and changed in Waybook, for an old service that takes over again."`
}

// moveFiles are the flags of all commands that read the files of an old service.
type moveFiles struct {
	Files    []string `arg:"" name:"file" help:"Files to read: NDJSON, plain or compressed by gzip or zstd; - for standard input."`
	Allow    []string `placeholder:"ALLOWANCE" help:"What the old service allowed and Waybook does not: ${allowances}."`
	Repair   bool     `help:"Give all allowances with which something is left out, or has another value. What was done is counted, and --problems lists it."`
	NewOwner int64    `placeholder:"USER" help:"Owner of albums, entries and landmarks without one, or whose owner is not in the files."`
	TimeZone string   `default:"Asia/Taipei" placeholder:"ZONE" help:"Time zone of times in the files that name none; ${default} by default."`
	Problems string   `placeholder:"FILE" help:"File to write all problems to, as NDJSON; - for standard output. It holds texts of the files."`
	TempDir  string   `name:"temp-dir" placeholder:"DIRECTORY" help:"Where temporary files are, as large as the unpacked input; the system's directory by default."`
	newFile  `embed:""`
}

// allowanceNames returns the names of the allowances.
func allowanceNames() string {
	var names []string
	for _, each := range movefile.Allowances() {
		names = append(names, string(each.Allowance))
	}
	return strings.Join(names, ", ")
}

// input checks the flags. Temporary files are in a folder; if that is "", in one that it makes and remove removes.
func (f *moveFiles) input(in io.Reader, out *output.Printer, folder string) (input send.Input, remove func() error, err error) {
	input = send.Input{Files: f.Files, Stdin: in, Folder: folder}
	if input.Allowed, err = movefile.ParseAllowed(f.Allow); err != nil {
		return input, nil, usageError("--allow: " + err.Error())
	}
	if f.Repair {
		input.Allowed = slices.Concat(input.Allowed, movefile.AllRepairs())
	}
	switch {
	case f.NewOwner < 0 || f.NewOwner > movefile.MaxUser:
		return input, nil, usageError(fmt.Sprintf("--new-owner must be an identifier of a user, from 1 to %d", int64(movefile.MaxUser)))
	case f.NewOwner > 0:
		input.Allowed, input.NewOwner = append(input.Allowed, movefile.NewOwner), movefile.ID(strconv.FormatInt(f.NewOwner, 10))
	}
	if input.Zone, err = time.LoadLocation(f.TimeZone); err != nil {
		return input, nil, usageError("--time-zone: " + err.Error())
	}
	seen := map[string]bool{}
	for _, path := range f.Files {
		if seen[filepath.Clean(path)] {
			return input, nil, usageError(path + " is named twice")
		}
		seen[filepath.Clean(path)] = true
	}
	if f.Problems != "" {
		if err := f.check(f.Problems); err != nil {
			return input, nil, err
		}
		input.SaveProblems = func(write func(io.Writer) error) error { return atomicfile.WriteTo(out.Out, f.Problems, 0o600, write) }
	}
	if folder != "" {
		return input, func() error { return nil }, nil
	}
	if input.Folder, err = os.MkdirTemp(f.TempDir, "waybook-move-"); err != nil {
		return input, nil, err
	}
	return input, func() error { return os.RemoveAll(input.Folder) }, nil
}

type moveCheck struct {
	moveFiles `embed:""`
}

// Help returns the detailed help.
func (*moveCheck) Help() string {
	return "The command needs no service. It reports counts, dangling references, duplicates, texts that XML cannot carry\n" +
		"and values outside the contract, with file and line. --allow takes what the old service allowed; the report\n" +
		"says what clients will see. If a problem remains, the exit status is 4.\n\n" +
		"docs/moving-in.md explains the files, and docs/moving-in.schema.json describes them."
}

// Run checks the files.
func (c *moveCheck) Run(ctx context.Context, in io.Reader, out *output.Printer, report progress.Reporter) (err error) {
	input, remove, err := c.input(in, out, "")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, remove()) }()
	found, err := send.Check(ctx, input, report)
	if err != nil {
		return err
	}
	warnOfNoEnd(out, found)
	if err := printReport(out, found); err != nil {
		return err
	}
	if count := found.Problems(); count > 0 {
		return refusedError(fmt.Sprintf("%d problems: correct the files, or allow what the old service allowed", count))
	}
	return nil
}

// warnOfNoEnd warns of files that may have been cut off.
func warnOfNoEnd(out *output.Printer, report *send.Report) {
	if !report.HasEnd() {
		out.Note("warning: %s", send.NoEnd)
	}
}

// printReport prints what the files hold and what is wrong.
func printReport(out *output.Printer, report *send.Report) error {
	groups := report.Sorted()
	value := output.Object{{Name: "lines", Value: report.Lines}, {Name: "problems", Value: report.Problems()}}
	var kinds []movefile.Kind
	counts := output.Object{}
	for _, kind := range movefile.Kinds() {
		if report.Records[kind] > 0 {
			kinds = append(kinds, kind)
		}
		counts = append(counts, output.Field{Name: string(kind), Value: report.Records[kind]})
	}
	value = append(value, output.Field{Name: "records", Value: counts}, output.Field{Name: "groups", Value: groupsValue(report, groups)})
	return out.Value(value, func(page *output.Page) {
		output.Rows(page, []string{"RECORDS", "KIND"}, kinds, func(k movefile.Kind) []string {
			return []string{number(report.Records[k]), string(k)}
		})
		output.Rows(page, []string{"PROBLEMS", "KIND", "FIELD", "CLASS", "ALLOW", "FIRST"}, groups, func(g *send.ProblemGroup) []string {
			allow := string(g.Allow)
			if g.IsAllowed {
				allow += " (allowed)"
			}
			return []string{number(g.Count), string(g.Kind), g.Field, string(g.Class), allow, report.Place(g.First[0].At)}
		})
		if lines := exampleLines(report, groups); len(lines) > 0 {
			page.Text(strings.Join(lines, "\n"))
		}
		output.Rows(page, []string{"ALLOWED", "CLIENTS SEE"}, usedAllowances(groups), func(a movefile.AllowanceEntry) []string {
			return []string{string(a.Allowance), a.Seen}
		})
	})
}

// exampleLines are the first problems that are not allowed.
func exampleLines(report *send.Report, groups []*send.ProblemGroup) (lines []string) {
	for _, group := range groups {
		for _, problem := range group.First {
			if !group.IsAllowed {
				lines = append(lines, report.Text(problem))
			}
		}
	}
	return lines
}

func usedAllowances(groups []*send.ProblemGroup) []movefile.AllowanceEntry {
	return slices.DeleteFunc(movefile.Allowances(), func(a movefile.AllowanceEntry) bool {
		return !slices.ContainsFunc(groups, func(g *send.ProblemGroup) bool { return g.IsAllowed && g.Allow == a.Allowance })
	})
}

func groupsValue(report *send.Report, groups []*send.ProblemGroup) output.List {
	list := output.List{}
	for _, group := range groups {
		var first output.List
		for _, problem := range group.First {
			first = append(first, output.Object{
				{Name: "file", Value: report.Files[problem.At.File]}, {Name: "line", Value: problem.At.Line},
				{Name: "text", Value: report.Text(problem)},
			})
		}
		list = append(list, output.Object{
			{Name: "kind", Value: string(group.Kind)}, {Name: "field", Value: group.Field}, {Name: "class", Value: string(group.Class)},
			{Name: "allow", Value: string(group.Allow)}, {Name: "is_allowed", Value: group.IsAllowed},
			{Name: "count", Value: group.Count}, {Name: "first", Value: first},
		})
	}
	return list
}
