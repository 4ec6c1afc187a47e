// Package compare sends the same reads to two servers of the interface and compares their replies.
package compare

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/waybook/waybook/edge"
	"github.com/waybook/waybook/edge/operation"
	"github.com/waybook/waybook/internal/progress"
	"github.com/waybook/waybook/moving/linefile"
)

const (
	concurrency   = 4
	maxLineBytes  = 1 << 20
	maxReplyBytes = 16 << 20
	maxPairs      = 1_000_000 // of identifiers that are remembered
	maxShown      = 10        // differences of an operation, and troubles
	maxSilence    = 20        // requests in a row without a readable reply, before a run ends
)

// Summary is the result of a run.
type Summary struct {
	// Same, Allowed and Different count requests by their replies. Trouble counts lines that were
	// not compared.
	Same      int64 `json:"same"`
	Allowed   int64 `json:"allowed"`
	Different int64 `json:"different"`
	Trouble   int64 `json:"trouble"`
	// Rules counts the replies in which each rule allowed a difference.
	Rules map[string]int64 `json:"rules"`
	// Differences are the first ones of each operation; NotShown counts the others. Troubles are
	// the first ones.
	Differences []Finding        `json:"differences"`
	NotShown    map[string]int64 `json:"not_shown"`
	Troubles    []Finding        `json:"troubles"`
}

// Finding is a difference or a trouble.
type Finding struct {
	Line    int64  `json:"line"`
	Request string `json:"request"`
	Text    string `json:"text"`
}

// Options say whom to ask.
type Options struct {
	Old, New Server
	Timeout  time.Duration  // of each request
	Zone     *time.Location // of times that name none
}

// Run sends each line of a file to both servers and compares the replies; "-" is stdin. If it
// fails after the first line, the Summary has the lines before.
func Run(ctx context.Context, options Options, file string, stdin io.Reader,
	report progress.Reporter) (_ Summary, err error) {
	r := &run{
		Options: options, reads: map[string]bool{}, comparer: comparer{options.Zone, map[id]int64{}, map[id]int64{}},
		shown: map[string]int{},
		summary: Summary{Rules: map[string]int64{}, Differences: []Finding{}, NotShown: map[string]int64{},
			Troubles: []Finding{}},
		client: http.Client{
			Transport:     &http.Transport{MaxIdleConnsPerHost: concurrency},
			Timeout:       options.Timeout,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
	defer r.client.CloseIdleConnections()
	for _, each := range edge.Operations() {
		r.reads[each.Func] = each.Effect == operation.Reads
	}
	lines, err := linefile.Open(file, stdin, maxLineBytes)
	if err != nil {
		return r.summary, err
	}
	defer func() { err = errors.Join(err, lines.Close()) }()
	report.Start("comparing", progress.Requests, 0)
	defer report.Finish()
	err = r.play(ctx, lines, report)
	return r.summary, err
}

type run struct {
	Options
	reads    map[string]bool
	client   http.Client
	comparer comparer
	summary  Summary
	// shown counts the differences of each operation, and silence the requests in a row without a
	// readable reply.
	shown   map[string]int
	silence int
}

// asked is a line of the file and what came of it.
type asked struct {
	Finding
	function string
	old, new *element
	err      error
}

// play sends several requests at a time, and judges the replies in the order of the lines.
func (r *run) play(ctx context.Context, lines *linefile.Reader, report progress.Reporter) error {
	ctx, cancel := context.WithCancel(ctx)
	queue := make(chan chan asked, concurrency)
	defer func() {
		for cancel(); len(queue) > 0; {
			<-<-queue
		}
	}()
	var ended error
	for ended == nil || len(queue) > 0 {
		if ended == nil {
			text, number, err := lines.Next()
			if err != nil {
				ended = fmt.Errorf("line %d: %w", number, err)
			} else if text[0] != '#' {
				line, done := Finding{Line: number, Request: string(text)}, make(chan asked, 1)
				queue <- done
				go func() { done <- r.ask(ctx, line) }()
			}
		}
		if len(queue) == concurrency || ended != nil && len(queue) > 0 {
			if err := r.judge(<-<-queue); err != nil || ctx.Err() != nil {
				return cmp.Or(ctx.Err(), err)
			}
			report.Reach(r.summary.Same + r.summary.Allowed + r.summary.Different + r.summary.Trouble)
		}
	}
	if errors.Is(ended, io.EOF) {
		return nil
	}
	return ended
}

func (r *run) ask(ctx context.Context, line Finding) (a asked) {
	a.Finding = line
	query := ""
	if a.function, query, a.err = r.parse(line.Request); a.err != nil {
		return a
	}
	if a.old, a.err = r.reply(ctx, r.Old, query); a.err != nil {
		a.err = fmt.Errorf("old server: %w", a.err)
	} else if a.new, a.err = r.reply(ctx, r.New, query); a.err != nil {
		a.err = fmt.Errorf("new server: %w", a.err)
	}
	return a
}

// judge counts a line. It fails if the servers no longer answer.
func (r *run) judge(a asked) error {
	s := &r.summary
	if a.err != nil {
		a.Text = a.err.Error()
		if s.Trouble++; s.Trouble <= maxShown {
			s.Troubles = append(s.Troubles, a.Finding)
		}
		if a.function == "" { // the line is bad
			return nil
		}
		if r.silence++; r.silence < maxSilence {
			return nil
		}
		return fmt.Errorf("%d requests in a row got no readable reply; stopped at line %d: %w", r.silence, a.Line,
			a.err)
	}
	r.silence = 0
	differences, rules := r.comparer.compare(a.function, a.old, a.new)
	for rule := range rules {
		s.Rules[rule]++
	}
	switch {
	case len(differences) > 0:
		s.Different++
	case len(rules) > 0:
		s.Allowed++
	default:
		s.Same++
	}
	for _, a.Text = range differences {
		if r.shown[a.function]++; r.shown[a.function] > maxShown {
			s.NotShown[a.function]++
		} else {
			s.Differences = append(s.Differences, a.Finding)
		}
	}
	return nil
}

// parse returns the function of a request, and its parameters encoded again: every server reads
// the same in them, so that no read of one is a write of another.
func (r *run) parse(request string) (name, query string, err error) {
	values, err := url.ParseQuery(request)
	if err != nil {
		return "", "", fmt.Errorf("not a query string: %w", err)
	}
	seen := map[string]bool{}
	for name, all := range values {
		folded := strings.ToLower(name)
		if !plainName.MatchString(name) || len(all) > 1 || seen[folded] {
			return "", "", fmt.Errorf("the parameter %q is repeated, or has other characters than letters, "+
				"digits and _", name)
		}
		seen[folded] = true
	}
	if name = values.Get("func"); !r.reads[name] {
		return "", "", fmt.Errorf("func %q is no read of Waybook, and only reads are sent", name)
	}
	return name, values.Encode(), nil
}

// Server is the address of a server, such as https://old.example/legacy, with or without /API.php
// at its end.
type Server struct{ url.URL }

// UnmarshalText reads the value of an argument.
func (s *Server) UnmarshalText(text []byte) error {
	base, err := url.Parse(string(text))
	if err != nil || base.Scheme != "http" && base.Scheme != "https" || base.Host == "" || base.User != nil ||
		base.RawQuery != "" || base.ForceQuery || base.Fragment != "" {
		return errors.New("want the address of a server, such as https://old.example, without a password and a query")
	}
	base.Path = strings.TrimRight(strings.TrimSuffix(base.Path, edge.Path), "/") + edge.Path
	s.URL = *base
	return nil
}

func (r *run) reply(ctx context.Context, from Server, query string) (*element, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, from.String()+"?"+query, nil)
	if err != nil {
		return nil, err
	}
	response, err := r.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }() // it was only read
	body, err := io.ReadAll(io.LimitReader(response.Body, maxReplyBytes+1))
	switch status := response.StatusCode; {
	case status/100 == 3, status == http.StatusTooManyRequests, status >= http.StatusInternalServerError:
		return nil, fmt.Errorf("HTTP %s", response.Status)
	case err != nil:
		return nil, err
	case len(body) > maxReplyBytes:
		return nil, fmt.Errorf("the reply is longer than %d MiB", maxReplyBytes>>20)
	}
	return parseReply(body)
}
