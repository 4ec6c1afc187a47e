// Package replay plays a log of requests against two servers of the interface, an old one and a new
// one, and compares their replies.
package replay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/waybook/waybook/edge"
	"github.com/waybook/waybook/edge/form"
	"github.com/waybook/waybook/edge/operation"
	"github.com/waybook/waybook/edge/peer"
	"github.com/waybook/waybook/internal/pause"
	"github.com/waybook/waybook/moving/comparison"
	"github.com/waybook/waybook/waybookctl/progress"
	"github.com/waybook/waybook/waybookctl/workers"
)

// Options configure a run.
type Options struct {
	Old, New peer.Address
	// HasWrites: writes are sent to both servers, too, in the order of the log, one at a time.
	HasWrites bool
	// Rate is the most requests per second that each server gets; 0 is no limit. Concurrency is
	// the most at a time; it is 1 if writes are sent.
	Rate        float64
	Concurrency int
	// Timeout bounds each request. ReplyBytes bounds each reply.
	Timeout    time.Duration
	ReplyBytes int64
	// Limit is the most requests that are sent; 0 is no limit.
	Limit int64
	// Examples is the most examples of differences that are kept, for each operation.
	Examples int
	Strict   []comparison.Rule
	Zone     *time.Location
}

const (
	// maxElements and maxPairs bound the memory of comparisons: 150 MB for a reply, 300 MB for all
	// pairs.
	maxElements = 1_000_000
	maxPairs    = 1_000_000
	// maxSilence is how many requests in a row may fail at a server before the run ends.
	maxSilence = 20
)

// Run plays a log. It returns what it found up to an error, too.
func Run(ctx context.Context, log *Log, options Options, report progress.Reporter) (*Summary, error) {
	if options.HasWrites {
		options.Concurrency = 1
	}
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	limits := peer.Limits{Connections: options.Concurrency, Timeout: options.Timeout, ReplyBytes: options.ReplyBytes}
	p := &player{
		options:    options,
		recognizer: edge.NewRecognizer(form.UTF8),
		comparer:   comparison.New(comparison.Options{Strict: options.Strict, Zone: options.Zone, MaxElements: maxElements, MaxPairs: maxPairs}),
		old:        server{client: peer.NewClient(options.Old, userAgent, limits), name: "old", end: end},
		new:        server{client: peer.NewClient(options.New, userAgent, limits), name: "new", end: end},
		summary:    newSummary(options.Examples),
	}
	defer p.old.client.Close()
	defer p.new.client.Close()
	report.Start("comparing", progress.Requests, 0)
	defer report.Finish()
	return p.summary, workers.Run(ctx, options.Concurrency, func(ctx context.Context, put func(call) error) error {
		return p.produce(ctx, log, put, report)
	}, p.play)
}

const userAgent = "waybookctl-compare"

// player plays one log.
type player struct {
	options    Options
	recognizer *edge.Recognizer
	comparer   *comparison.Comparer
	old, new   server
	summary    *Summary
}

// call is a request of a log that is sent.
type call struct {
	place string
	asked edge.Asked
	peer.Request
}

// produce reads the log and hands out the requests that are sent, at most as fast as the rate says.
func (p *player) produce(ctx context.Context, log *Log, put func(call) error, report progress.Reporter) error {
	began := time.Now()
	for sent := int64(0); p.options.Limit == 0 || sent < p.options.Limit; {
		entries, err := log.next()
		var unreadable unreadableError
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.As(err, &unreadable):
			p.summary.skip(SkippedUnreadable, unreadable.Error())
			continue
		case err != nil:
			return err
		}
		for _, each := range entries {
			next, ok := p.recognize(each)
			if !ok {
				continue
			}
			if p.options.Rate > 0 {
				due := began.Add(time.Duration(float64(sent) / p.options.Rate * float64(time.Second)))
				if err := pause.For(ctx, time.Until(due)); err != nil {
					return err
				}
			}
			if err := put(next); err != nil {
				return err
			}
			sent++
			report.Reach(sent)
		}
	}
	return nil
}

// recognize returns the call for an entry, or counts why it is not sent.
func (p *player) recognize(e entry) (call, bool) {
	target, err := url.Parse(e.target)
	if err != nil || !strings.HasSuffix(strings.ToLower(strings.TrimRight(target.Path, "/")), strings.ToLower(edge.Path)) {
		p.summary.skip(SkippedElsewhere, "")
		return call{}, false
	}
	if e.method != http.MethodGet && e.method != http.MethodPost {
		p.summary.skip(SkippedUnknown, "")
		return call{}, false
	}
	asked, err := p.recognizer.Recognize(target.RawQuery, e.contentType, e.body)
	switch {
	case errors.Is(err, edge.ErrAmbiguous):
		p.summary.skip(SkippedAmbiguous, e.place)
	case errors.Is(err, edge.ErrNoXML):
		p.summary.skip(SkippedJSON, "")
	case err != nil:
		p.summary.skip(SkippedUnknown, e.place)
	case asked.Effect == operation.Writes && !p.options.HasWrites:
		p.summary.skip(SkippedWrite, "")
	default:
		return call{e.place, asked, peer.Request{
			Method: e.method, Query: asked.Query, Body: asked.Body, ContentType: asked.ContentType,
			Cookie: peer.SessionCookie([]string{e.cookie}),
		}}, true
	}
	return call{}, false
}

// play sends a request to both servers at the same time and compares the replies.
func (p *player) play(ctx context.Context, c call) error {
	var old, new answer
	var both sync.WaitGroup
	both.Go(func() { old = p.old.ask(ctx, c.Request, p.comparer) })
	both.Go(func() { new = p.new.ask(ctx, c.Request, p.comparer) })
	both.Wait()
	if err := ctx.Err(); err != nil {
		return err
	}
	found := result{call: c, old: old, new: new, err: errors.Join(old.err, new.err)}
	if found.err == nil {
		found.verdict = p.comparer.Compare(old.reply, new.reply)
	}
	p.summary.add(found)
	return nil
}

// answer is the reply of one server.
type answer struct {
	reply   *comparison.Element
	elapsed time.Duration
	err     error
}

// server is one of the two servers.
type server struct {
	client *peer.Client
	name   string
	// end ends the run.
	end context.CancelCauseFunc

	mu sync.Mutex
	// silence counts the last requests that got no reply.
	silence int
}

func (s *server) ask(ctx context.Context, request peer.Request, comparer *comparison.Comparer) answer {
	reply, err := s.client.Ask(ctx, request)
	s.listen(err)
	if err != nil {
		return answer{err: fmt.Errorf("the %s server: %w", s.name, err)}
	}
	read, err := comparer.Parse(reply.Body)
	if err != nil {
		return answer{err: fmt.Errorf("the %s server: HTTP %d, %w", s.name, reply.Status, err)}
	}
	return answer{reply: read, elapsed: reply.Elapsed}
}

// listen ends the run if the server does not answer any more.
func (s *server) listen(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.silence++; err == nil || errors.Is(err, peer.ErrTooLong) {
		s.silence = 0
	}
	if s.silence == maxSilence {
		s.end(fmt.Errorf("the %s server has not answered %d requests in a row: %w", s.name, maxSilence, err))
	}
}
