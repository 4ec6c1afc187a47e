package cli

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/waybook/waybook/edge/comparison"
	"github.com/waybook/waybook/waybookctl/output"
	"github.com/waybook/waybook/waybookctl/replay"
)

// comparisonColumns are the columns of the table of operations.
func comparisonColumns() []output.Column[*replay.Operation] {
	number := func(head string, value func(*replay.Operation) int64) output.Column[*replay.Operation] {
		return output.Column[*replay.Operation]{Head: head, Cell: func(o *replay.Operation) string { return strconv.FormatInt(value(o), 10) }}
	}
	mean := func(head string, value func(*replay.Operation) time.Duration) output.Column[*replay.Operation] {
		return output.Column[*replay.Operation]{Head: head, Cell: func(o *replay.Operation) string { return fmt.Sprintf("%.1f", millis(value(o))) }}
	}
	return []output.Column[*replay.Operation]{
		{Head: "OPERATION", Cell: func(o *replay.Operation) string { return o.Function }},
		number("REQUESTS", (*replay.Operation).Count),
		number("SAME", func(o *replay.Operation) int64 { return o.Same }),
		number("ALLOWED", func(o *replay.Operation) int64 { return o.Allowed }),
		number("DIFFERENT", func(o *replay.Operation) int64 { return o.Different }),
		number("UNREAD", func(o *replay.Operation) int64 { return o.Unread }),
		mean("OLD MS", (*replay.Operation).OldTime), mean("NEW MS", (*replay.Operation).NewTime),
	}
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
