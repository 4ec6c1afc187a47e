package replay

import (
	"cmp"
	_ "embed"
	"html/template"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/waybook/waybook/moving/comparison"
)

// Summary counts what a run found.
type Summary struct {
	// Operations are the operations that were compared, by func.
	Operations []*Operation
	// Skipped are the requests that were not sent, by reason.
	Skipped []Skipped

	mu       sync.Mutex
	examples int
}

// Operation counts the comparisons of one func.
type Operation struct {
	Function string
	// Unread counts the requests without two replies of the contract.
	Same, Allowed, Different, Unread int64
	// Rules counts the replies in which each rule allowed a difference.
	Rules [comparison.RuleCount]int64
	// Examples are the first differences, in the order of the log as far as it was kept.
	Examples []Example

	oldTime, newTime time.Duration
}

// Count returns the number of requests.
func (o *Operation) Count() int64 { return o.Same + o.Allowed + o.Different + o.Unread }

// OldTime and NewTime return the mean times of the replies, to 10 µs.
func (o *Operation) OldTime() time.Duration { return o.mean(o.oldTime) }

// NewTime is OldTime for the new server.
func (o *Operation) NewTime() time.Duration { return o.mean(o.newTime) }

func (o *Operation) mean(sum time.Duration) time.Duration {
	if read := o.Count() - o.Unread; read > 0 {
		return (sum / time.Duration(read)).Round(10 * time.Microsecond)
	}
	return 0
}

// Example is one request with both replies.
type Example struct {
	// Place is where the log has the request.
	Place, Method, Query, Body string
	Verdict                    comparison.Verdict
	// Err says why there is no verdict; nil if there is one.
	Err error
	// Old and New are the beginnings of the replies; nil where a reply could not be read.
	Old, New []comparison.Line
}

// exampleLines is the most lines of a reply in an example.
const exampleLines = 400

// Reason says why a request is not sent.
type Reason string

// The reasons.
const (
	SkippedWrite      Reason = "write"
	SkippedUnknown    Reason = "no operation"
	SkippedAmbiguous  Reason = "ambiguous parameters"
	SkippedJSON       Reason = "asks for JSON"
	SkippedElsewhere  Reason = "another path"
	SkippedUnreadable Reason = "unreadable"
)

// Skipped counts the requests that were not sent for one reason.
type Skipped struct {
	Reason Reason
	Count  int64
	// First is the place of the first one; it may be empty.
	First string
}

// result is the comparison of one request.
type result struct {
	call
	old, new answer
	verdict  comparison.Verdict
	err      error
}

func newSummary(examples int) *Summary { return &Summary{examples: examples} }

// Total returns the sums of all operations.
func (s *Summary) Total() *Operation {
	total := &Operation{}
	for _, each := range s.Operations {
		total.Same += each.Same
		total.Allowed += each.Allowed
		total.Different += each.Different
		total.Unread += each.Unread
		for rule, count := range each.Rules {
			total.Rules[rule] += count
		}
	}
	return total
}

func (s *Summary) skip(reason Reason, place string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := slices.IndexFunc(s.Skipped, func(each Skipped) bool { return each.Reason == reason })
	if at < 0 {
		at = len(s.Skipped)
		s.Skipped = append(s.Skipped, Skipped{Reason: reason, First: place})
	}
	s.Skipped[at].Count++
}

func (s *Summary) add(r result) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at, found := slices.BinarySearchFunc(s.Operations, r.asked.Function, func(o *Operation, name string) int { return cmp.Compare(o.Function, name) })
	if !found {
		s.Operations = slices.Insert(s.Operations, at, &Operation{Function: r.asked.Function})
	}
	o := s.Operations[at]
	isNew := r.err != nil
	switch {
	case r.err != nil:
		o.Unread++
	case r.verdict.Outcome == comparison.Same:
		o.Same++
	case r.verdict.Outcome == comparison.Allowed:
		o.Allowed++
	default:
		o.Different++
		isNew = true
	}
	if r.err == nil {
		o.oldTime += r.old.elapsed
		o.newTime += r.new.elapsed
	}
	for _, rule := range r.verdict.Rules {
		isNew = isNew || o.Rules[rule] == 0 // each rule has an example
		o.Rules[rule]++
	}
	if isNew && o.hasRoom(r, s.examples) {
		o.Examples = append(o.Examples, r.example())
	}
}

// hasRoom reports whether an example is kept. Rules have one each, beside those of differences.
func (o *Operation) hasRoom(r result, limit int) bool {
	if r.err == nil && r.verdict.Outcome == comparison.Allowed {
		return limit > 0
	}
	return o.Different+o.Unread <= int64(limit)
}

func (r result) example() Example {
	made := Example{Place: r.place, Method: r.Method, Query: r.Query, Body: r.Body, Verdict: r.verdict, Err: r.err}
	if r.old.reply != nil {
		made.Old = r.old.reply.Lines(exampleLines)
	}
	if r.new.reply != nil {
		made.New = r.new.reply.Lines(exampleLines)
	}
	return made
}

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
