package replay

import (
	"cmp"
	_ "embed"
	"html/template"
	"io"
	"slices"
	"time"

	"github.com/waybook/waybook/moving/comparison"
)

//go:embed page.html
var pageText string

var pageTemplate = template.Must(template.New("page").Parse(pageText))

// page is what the template shows.
type page struct {
	Old, New, Made string
	Total          *Operation
	Operations     []*Operation
	Skipped        []Skipped
	Rules          []ruleRow
	Examples       []shownExample
}

type ruleRow struct {
	comparison.RuleEntry
	Count    int64
	IsStrict bool
}

type shownExample struct {
	Example
	Function, Title string
	Rules           []comparison.Rule
	Columns         []column
}

type column struct {
	Title string
	Lines []shownLine
}

type shownLine struct {
	Text string
	// IsDifferent marks a line of an element that differs.
	IsDifferent bool
}

// WritePage writes the report as an HTML page without scripts. It holds texts of the replies.
func (s *Summary) WritePage(out io.Writer, options Options, now time.Time) error {
	total := s.Total()
	p := page{
		Old: options.Old.String(), New: options.New.String(), Made: now.Format(time.RFC3339),
		Total: total, Operations: s.Operations, Skipped: s.Skipped,
	}
	for _, rule := range comparison.Rules() {
		p.Rules = append(p.Rules, ruleRow{rule, total.Rules[rule.Rule], slices.Contains(options.Strict, rule.Rule)})
	}
	for _, o := range s.Operations {
		for _, example := range o.Examples {
			p.Examples = append(p.Examples, shown(o.Function, example))
		}
	}
	// Differences come first.
	slices.SortStableFunc(p.Examples, func(a, b shownExample) int { return cmp.Compare(a.rank(), b.rank()) })
	return pageTemplate.Execute(out, p)
}

// rank is 0 for a reply that differs, 1 for one that could not be read, and 2 for others.
func (e shownExample) rank() int {
	switch {
	case e.Err != nil:
		return 1
	case e.Verdict.Outcome == comparison.Different:
		return 0
	}
	return 2
}

func shown(function string, e Example) shownExample {
	title := e.Verdict.Outcome.String()
	if e.Err != nil {
		title = "unread"
	}
	paths := map[string]bool{}
	for _, each := range e.Verdict.Differences {
		paths[each.Path] = true
	}
	mark := func(lines []comparison.Line) []shownLine {
		marked := make([]shownLine, len(lines))
		for i, line := range lines {
			marked[i] = shownLine{line.Text, paths[line.Path]}
		}
		return marked
	}
	return shownExample{e, function, title, e.Verdict.Rules, []column{{"old", mark(e.Old)}, {"new", mark(e.New)}}}
}
