package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/waybook/waybook/edge/peer"
	"github.com/waybook/waybook/moving/comparison"
	"github.com/waybook/waybook/moving/replay"
	"github.com/waybook/waybook/waybookctl/atomicfile"
	"github.com/waybook/waybook/waybookctl/output"
	"github.com/waybook/waybook/waybookctl/progress"
)

type compareCommand struct {
	Old  string `arg:"" help:"Address of the old server, such as https://old.example."`
	New  string `arg:"" help:"Address of the new server."`
	File string `arg:"" help:"Log of requests, or list of identifiers; - for standard input. It may be compressed by gzip or zstd."`

	Format      string   `enum:",access,har,ndjson,ids" default:"" placeholder:"FORMAT" help:"Format of the file: access (the common or the combined log format), har (an HTTP archive), ndjson (an object in each line) or ids. Derived from the file name when not given."`
	Parameter   string   `placeholder:"NAME" help:"Parameter of the identifiers in lines of ids that have no name, such as albumID."`
	Writes      bool     `help:"Send writes, too, to both servers, one at a time. They change both."`
	Rate        float64  `default:"20" placeholder:"NUMBER" help:"Limit of the requests per second to each server, 0 for none; ${default} by default."`
	Concurrency int      `default:"4" placeholder:"NUMBER" help:"Limit of the requests at a time; ${default} by default."`
	Limit       int64    `placeholder:"NUMBER" help:"Compare only the first requests."`
	Strict      []string `placeholder:"RULE" help:"Rules that allow no difference: ${rules}."`
	TimeZone    string   `default:"Asia/Taipei" placeholder:"ZONE" help:"Time zone of the replies; ${default} by default."`
	MaxReply    int64    `default:"16777216" placeholder:"BYTES" help:"Limit of a reply in bytes; ${default} by default."`
	Examples    int      `default:"10" placeholder:"NUMBER" help:"Limit of the examples of differences for each operation; ${default} by default."`
	newFile     `embed:""`
	HTML        string `placeholder:"FILE" help:"Write a report with examples side by side. It holds texts of the replies."`
}

// ruleNames returns the names of the rules.
func ruleNames() string {
	var names []string
	for _, rule := range comparison.Rules() {
		names = append(names, rule.Name)
	}
	return strings.Join(names, ", ")
}

// Help returns the detailed help.
func (*compareCommand) Help() string {
	return `The command sends each request of the file to both servers and compares the replies. It sends reads only; other
requests are counted as not sent. A request that other servers could take for a write, because a parameter is repeated
or has an unusual name, is not sent either.

A line of ids is a parameter and its value: albumID 12, POIID 12, blogID 12, userID 12 or category 2. A line of ndjson has
url, and may have method, body, content_type and cookie; or it has request, such as "GET /API.php?func=... HTTP/1.1".
Only the parts id and idrand of a cookie are sent.

The exit status is that of diff: 0 if no reply differs, 1 if some do, and 2 if there was trouble: a server did not
answer, a reply could not be read, or nothing was compared. docs/moving-in.md explains the rules.`
}

// Run plays the file.
func (c *compareCommand) Run(ctx context.Context, connection *Connection, in io.Reader, out *output.Printer, report progress.Reporter) (failed error) {
	if err := c.check(c.HTML); err != nil {
		return err
	}
	options, err := c.options(connection)
	if err != nil {
		return err
	}
	format := replay.Format(c.Format)
	if format == "" {
		if c.File == "-" {
			return usageError("standard input has no file name to derive a format from; give --format")
		}
		if format, err = replay.FormatOf(c.File); err != nil {
			return usageError(err.Error() + "; give --format")
		}
	}
	log, err := replay.Open(c.File, in, format, c.Parameter)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }() // it was only read
	summary, err := replay.Run(ctx, log, options, report)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if printed := c.print(out, summary, options); printed != nil {
		return printed
	}
	total := summary.Total()
	switch {
	case err != nil:
		return err
	case total.Count() == 0:
		return fmt.Errorf("no request of %s was compared", c.File)
	case total.Unread > 0:
		return fmt.Errorf("%d of %d requests were not compared, because a reply could not be read; %d replies differ",
			total.Unread, total.Count(), total.Different)
	case total.Different > 0:
		return differentError(fmt.Sprintf("%d of %d replies differ", total.Different, total.Count()))
	}
	return nil
}

// options checks the flags.
func (c *compareCommand) options(connection *Connection) (options replay.Options, err error) {
	options = replay.Options{
		HasWrites: c.Writes, Rate: c.Rate, Concurrency: c.Concurrency, Timeout: connection.Timeout, ReplyBytes: c.MaxReply, Limit: c.Limit, Examples: c.Examples,
	}
	if !(c.Rate >= 0) || c.Concurrency < 1 || c.Concurrency > 256 || connection.Timeout <= 0 || c.MaxReply < 1 || c.Limit < 0 || c.Examples < 0 || c.Examples > 1000 {
		return options, usageError("--rate and --limit must be 0 or more, --timeout and --max-reply more than 0, --concurrency from 1 to 256, --examples from 0 to 1000")
	}
	if options.Old, err = peer.ParseAddress(c.Old); err != nil {
		return options, usageError("OLD: " + err.Error())
	}
	if options.New, err = peer.ParseAddress(c.New); err != nil {
		return options, usageError("NEW: " + err.Error())
	}
	if options.Zone, err = time.LoadLocation(c.TimeZone); err != nil {
		return options, usageError("--time-zone: " + err.Error())
	}
	for _, name := range c.Strict {
		rule, err := comparison.ParseRule(name)
		if err != nil {
			return options, usageError("--strict: " + err.Error())
		}
		options.Strict = append(options.Strict, rule)
	}
	return options, nil
}

// print prints the summary, and writes the report.
func (c *compareCommand) print(out *output.Printer, summary *replay.Summary, options replay.Options) error {
	if c.HTML != "" {
		if err := atomicfile.Write(c.HTML, 0o600, func(file io.Writer) error { return summary.WritePage(file, options, time.Now()) }); err != nil {
			return err
		}
	}
	for _, each := range summary.Skipped {
		first := ""
		if each.First != "" {
			first = "; the first: " + each.First
		}
		out.Note("%s", output.Visible(fmt.Sprintf("not sent: %d (%s%s)", each.Count, each.Reason, first)))
	}
	return out.Value(comparisonOf(summary), func(page *output.Page) {
		heads := []string{"OPERATION", "REQUESTS", "SAME", "ALLOWED", "DIFFERENT", "UNREAD", "OLD MS", "NEW MS"}
		output.Rows(page, heads, summary.Operations, func(o *replay.Operation) []string {
			return []string{
				o.Function, number(o.Count()), number(o.Same), number(o.Allowed), number(o.Different), number(o.Unread),
				fmt.Sprintf("%.1f", millis(o.OldTime())), fmt.Sprintf("%.1f", millis(o.NewTime())),
			}
		})
		counts := summary.Total().Rules
		used := slices.DeleteFunc(comparison.Rules(), func(r comparison.RuleEntry) bool { return counts[r.Rule] == 0 })
		output.Rows(page, []string{"ALLOWED BY", "REPLIES", "ALLOWS"}, used, func(r comparison.RuleEntry) []string {
			return []string{r.Name, number(counts[r.Rule]), r.Forgives}
		})
		if lines := differencesOf(summary); len(lines) > 0 {
			page.Text(strings.Join(lines, "\n"))
		}
	})
}

func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// shownDifferences is the most differences that are printed for an operation.
const shownDifferences = 3

// differencesOf describes the first examples of each operation, a line each.
func differencesOf(summary *replay.Summary) (lines []string) {
	for _, o := range summary.Operations {
		count := 0
		for _, example := range o.Examples {
			if count == shownDifferences {
				break
			}
			what := ""
			switch {
			case example.Err != nil:
				what = example.Err.Error()
			case len(example.Verdict.Differences) > 0:
				what = example.Verdict.Differences[0].String()
			default:
				continue
			}
			count++
			request := strings.Join(strings.Fields(example.Method+" "+example.Query+" "+example.Body), " ")
			lines = append(lines, output.Visible(fmt.Sprintf("%s: %s: %s", example.Place, request, what)))
		}
	}
	return lines
}

// comparisonOf returns the summary for programs.
func comparisonOf(summary *replay.Summary) output.Object {
	operations, skipped := output.List{}, output.List{}
	for _, o := range summary.Operations {
		rules, examples := output.Object{}, output.List{}
		for _, rule := range comparison.Rules() {
			if count := o.Rules[rule.Rule]; count > 0 {
				rules = append(rules, output.Field{Name: rule.Name, Value: count})
			}
		}
		for _, example := range o.Examples {
			examples = append(examples, exampleOf(example))
		}
		operations = append(operations, output.Object{
			{Name: "func", Value: o.Function}, {Name: "requests", Value: o.Count()},
			{Name: "same", Value: o.Same}, {Name: "allowed", Value: o.Allowed}, {Name: "different", Value: o.Different}, {Name: "unread", Value: o.Unread},
			{Name: "old_mean_ms", Value: millis(o.OldTime())}, {Name: "new_mean_ms", Value: millis(o.NewTime())},
			{Name: "rules", Value: rules}, {Name: "examples", Value: examples},
		})
	}
	for _, each := range summary.Skipped {
		skipped = append(skipped, output.Object{
			{Name: "reason", Value: string(each.Reason)}, {Name: "count", Value: each.Count}, {Name: "first", Value: each.First},
		})
	}
	return output.Object{{Name: "operations", Value: operations}, {Name: "not_sent", Value: skipped}}
}

func exampleOf(example replay.Example) output.Object {
	outcome, reason := example.Verdict.Outcome.String(), ""
	if example.Err != nil {
		outcome, reason = "unread", example.Err.Error()
	}
	differences := output.List{}
	for _, each := range example.Verdict.Differences {
		differences = append(differences, output.Object{
			{Name: "path", Value: each.Path}, {Name: "what", Value: each.What}, {Name: "old", Value: each.Old}, {Name: "new", Value: each.New},
		})
	}
	return output.Object{
		{Name: "place", Value: example.Place}, {Name: "method", Value: example.Method},
		{Name: "query", Value: example.Query}, {Name: "body", Value: example.Body},
		{Name: "outcome", Value: outcome}, {Name: "error", Value: reason}, {Name: "differences", Value: differences},
	}
}
