package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/waybook/waybook/moving/movefile"
	"github.com/waybook/waybook/moving/send"
	"github.com/waybook/waybook/waybookctl/output"
	"github.com/waybook/waybook/waybookctl/progress"
)

type moveImport struct {
	moveFiles `embed:""`

	Update     bool    `help:"Change what is stored and differs from the files."`
	MaxRemoved float64 `default:"0.05" placeholder:"SHARE" help:"Share of the photos, comments, ballots and recommendations that --update may remove, each by itself, from 0 to 1; ${default} by default. Above it, nothing is changed."`
	Revive     bool    `help:"Bring back what was deleted in Waybook. Otherwise, it stays deleted, and is listed."`
	Prune      bool    `help:"Delete the albums, entries and landmarks that were moved in and that the files do not have. It obeys --max-removed."`
	DryRun     bool    `help:"Change nothing, and report what would be done."`
	Yes        bool    `help:"Import files without an end record."`
	Workers    int     `default:"4" placeholder:"NUMBER" help:"Limit of the requests at a time; ${default} by default."`
	Journal    string  `default:"waybook-move" placeholder:"DIRECTORY" help:"Directory of the sorted records and the journal of an import, which an import that ended early goes on with; ${default} by default. It is removed at the end."`
}

// Help returns the detailed help.
func (*moveImport) Help() string {
	return `The command reads and checks all files first. Then it moves in everything that has no problem. A user, an album, an
entry or a landmark with a problem, or with a photo, a comment, a ballot or a recommendation that has one, is left out
as a whole, and the exit status is 4.

Identifiers of the old service stay good: users keep them, and everything else can be read by them. To resume an
interrupted import, run it again. It goes on where it ended, if the files and the flags are the same. What is stored
already is unchanged. If it differs from the files, it stays as it is and is counted, unless --update changes it.
--update also removes photos, comments, ballots and recommendations that were moved in and are not in the files any more,
and closes such sessions. It counts first what it would remove; if that is more than --max-removed, it changes nothing.
Under an album, an entry or a landmark with too many of them (2 MiB of identifiers, some 200,000), it removes none; the
exit status is then 4.

--prune deletes the albums, entries and landmarks that were moved in and are not in the files any more. It lists them
first, and changes nothing if they are more than --max-removed of their kind. What was made in Waybook, or changed there
after it was moved in, stays and is counted; so do users. Pruned content counts as deleted in Waybook.

A user, an album, an entry or a landmark that was moved in and deleted in Waybook stays deleted, and is listed. So does a
photo or a comment that a user removed in Waybook. --revive brings back the former, with the photos and comments of the
files, once followers of changes are no longer shown the deletion: after a week, or as -changes-kept of the services
says. Together with --update, it brings back the latter.

An end record says how many records the export wrote. Files with other numbers, and empty ones, are not imported.
Without an end record, nobody knows whether the files are whole: the command asks, and --yes is the answer.

The journal's directory holds copies of the records, passwords included; only you can read it. One import uses it at a
time. Two imports with two journals are safe: everything is stored once.`
}

// Run imports the files.
func (c *moveImport) Run(ctx context.Context, call *services, connection *Connection, in io.Reader, from secrets, out *output.Printer, report progress.Reporter) (err error) {
	if c.Workers < 1 || c.Workers > 64 || !(c.MaxRemoved >= 0 && c.MaxRemoved <= 1) {
		return usageError("--workers must be from 1 to 64, --max-removed from 0 to 1")
	}
	folder := c.Journal
	if folder == "" {
		return usageError("--journal must name a directory")
	}
	if c.DryRun {
		folder = ""
	}
	input, remove, err := c.input(in, out, folder)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, remove()) }()
	summary, err := send.Import(ctx, call.Services, send.ImportOptions{
		Input: input, Place: strings.Join([]string{connection.Address, connection.Account, connection.Album, connection.Blog, connection.Poi}, " "),
		Update: c.Update, MaxRemoved: c.MaxRemoved, Revive: c.Revive, Prune: c.Prune, DryRun: c.DryRun, Workers: c.Workers,
		Confirm: func(question string) (bool, error) {
			if c.Yes {
				return true, nil
			}
			return from.confirm(ctx, question)
		},
	}, report)
	if errors.As(err, new(*send.RefusedError)) {
		if summary != nil && len(summary.Outcomes) > 0 {
			err = errors.Join(err, c.print(out, summary))
		}
		return refusedError(err.Error())
	}
	if err != nil {
		if summary != nil {
			total := summary.Total()
			out.Note("%d created, %d updated, %d unchanged; run the same command again to resume",
				total[send.Created], total[send.Updated], total[send.Unchanged])
		}
		return err
	}
	if err := c.print(out, summary); err != nil {
		return err
	}
	return verdict(summary, input.Allowed)
}

// verdict returns an error if not everything was moved in.
func verdict(summary *send.Summary, allowed movefile.Allowed) error {
	total := summary.Total()
	switch {
	case total[send.LeftOut]+total[send.Refused] > 0 || summary.Report.Problems() > 0 || summary.RefusalCount > 0:
		return refusedError(fmt.Sprintf("not everything was moved in: %d left out with %d problems in the files, %d refused by a service",
			total[send.LeftOut], summary.Report.Problems(), summary.RefusalCount))
	case total[send.Different] > 0:
		return refusedError(fmt.Sprintf("%d differ from what is stored and stay as they are; --update changes them", total[send.Different]))
	case summary.QuotesMissing > 0 && !allowed.Has(movefile.DanglingRecords):
		return refusedError(fmt.Sprintf("%d entries were stored without their quotes, because the quoted entries are not there", summary.QuotesMissing))
	}
	return nil
}

func (c *moveImport) print(out *output.Printer, summary *send.Summary) error {
	groups := summary.Report.Sorted()
	warnOfNoEnd(out, summary.Report)
	for _, line := range exampleLines(summary.Report, groups) {
		out.Note("%s", output.Visible(line))
	}
	for _, refusal := range summary.Refusals {
		out.Note("%s", output.Visible(summary.Text(refusal)))
	}
	heads := []string{"KIND"}
	for outcome := range send.OutcomeCount {
		heads = append(heads, strings.ToUpper(strings.ReplaceAll(outcome.String(), "_", " ")))
	}
	var kinds []movefile.Kind
	outcomes := output.Object{}
	for _, kind := range movefile.Kinds() {
		counts, isThere := summary.Outcomes[kind]
		if !isThere {
			continue
		}
		kinds = append(kinds, kind)
		named := output.Object{}
		for outcome, count := range counts {
			named = append(named, output.Field{Name: send.Outcome(outcome).String(), Value: count})
		}
		outcomes = append(outcomes, output.Field{Name: string(kind), Value: named})
	}
	gone, kept := send.Counts{}, send.Counts{}
	if summary.Extras != nil {
		gone, kept = summary.Extras.Counts()
	}
	return out.Value(output.Object{
		{Name: "is_dry_run", Value: c.DryRun}, {Name: "outcomes", Value: outcomes}, {Name: "removed", Value: countsValue(summary.Removed)},
		{Name: "deleted", Value: countsValue(summary.Deleted)}, {Name: "pruned", Value: countsValue(gone)}, {Name: "kept", Value: countsValue(kept)},
		{Name: "problems", Value: summary.Report.Problems()}, {Name: "groups", Value: groupsValue(summary.Report, groups)},
		{Name: "refusals", Value: summary.RefusalCount}, {Name: "quotes_missing", Value: summary.QuotesMissing},
		{Name: "repeated_calls", Value: summary.Repeated},
	}, func(page *output.Page) {
		if c.DryRun {
			page.Text("dry run, nothing was changed")
		}
		output.Rows(page, heads, kinds, func(k movefile.Kind) []string {
			cells := []string{string(k)}
			for _, count := range summary.Outcomes[k] {
				cells = append(cells, number(count))
			}
			return cells
		})
		printCounts(page, "REMOVED", summary.Removed)
		printCounts(page, "DELETED IN WAYBOOK", summary.Deleted)
		printCounts(page, "PRUNED", gone)
		printCounts(page, "NOT IN THE FILES, AND KEPT", kept)
	})
}

// countsValue returns the counts that are not 0, for programs, and printCounts prints them.
func countsValue(counts send.Counts) output.Object {
	value := output.Object{}
	for _, kind := range movefile.Kinds() {
		if counts[kind] > 0 {
			value = append(value, output.Field{Name: string(kind), Value: counts[kind]})
		}
	}
	return value
}

func printCounts(page *output.Page, head string, counts send.Counts) {
	output.Rows(page, []string{head, "KIND"}, countsValue(counts), func(f output.Field) []string {
		return []string{number(f.Value.(int64)), f.Name}
	})
}
