// Package shadow compares the edge with an old server while clients use one of the two. With
// -shadow, the edge answers, and each read is also asked of the old server. With -primary, the old
// server answers, and each read is also asked of the edge. Only reads are asked twice, and nobody
// waits for the second reply.
package shadow

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/waybook/waybook/edge"
	"github.com/waybook/waybook/edge/form"
	"github.com/waybook/waybook/edge/peer"
	"github.com/waybook/waybook/internal/platform/admission"
	"github.com/waybook/waybook/internal/platform/requestid"
	"github.com/waybook/waybook/moving/comparison"
)

// The limits of the work beside the clients' requests.
const (
	// workers is the most comparisons at a time, and of connections to the old server for them.
	workers = 8
	// queueLength bounds the comparisons that wait, and queueBytes the memory of these and of the
	// copies that are being made.
	queueLength = 256
	queueBytes  = 16 << 20
	// maxBody and maxReply are the longest body and reply that are compared, in bytes.
	maxBody  = 64 << 10
	maxReply = 512 << 10
	// maxElements and maxPairs bound what a comparison takes, and what all keep: about 3 MiB for
	// a reply, and 15 MiB.
	maxElements = 20_000
	maxPairs    = 50_000
	// askTimeout bounds the time of the second reply.
	askTimeout = 10 * time.Second
)

// Config has the dependencies and settings of a Shadow. All but Load and Observe are required.
type Config struct {
	Flags Flags
	// Edge is the edge's handler.
	Edge http.Handler
	// Proxies, Prefix and Charset are those of the edge.
	Proxies edge.TrustedProxies
	Prefix  edge.PathPrefix
	Charset form.Charset
	// Zone is the zone of the times in the replies of both servers.
	Zone *time.Location
	// Load holds the limits of the edge. Those of forms and of requests hold for the requests that
	// the old server answers, too.
	Load edge.Load
	// Observe is called for each request to the interface that the old server answers.
	Observe func(*http.Request, edge.Answer)
	Log     *slog.Logger
	Metrics prometheus.Registerer
}

// Shadow compares the replies of two servers. It is safe for concurrent use.
type Shadow struct {
	config     Config
	recognizer *edge.Recognizer
	comparer   *comparison.Comparer
	rate       *admission.Rate
	metrics    *metrics
	report     *reporter
	// second gets the second reply to a read.
	second interface {
		Ask(context.Context, peer.Request) (peer.Reply, error)
	}
	handler http.Handler

	queue  chan job
	memory memory
}

// New returns a Shadow. Nothing is compared before Run.
func New(config Config) *Shadow {
	s := &Shadow{
		config:     config,
		recognizer: edge.NewRecognizer(config.Charset),
		comparer:   comparison.New(comparison.Options{Zone: config.Zone, MaxElements: maxElements, MaxPairs: maxPairs}),
		rate:       admission.NewRate(config.Flags.Rate, time.Second, time.Now),
		metrics:    newMetrics(config.Metrics),
		report:     newReporter(config.Log),
		queue:      make(chan job, queueLength),
	}
	if config.Flags.IsPrimary() {
		s.second = recordingEdge{config.Edge, config.Prefix}
		s.handler = s.newPrimary()
	} else {
		s.second = peer.NewClient(config.Flags.Shadow, "waybook-shadow", peer.Limits{
			Connections: workers, Timeout: askTimeout, ReplyBytes: maxReply,
		})
		s.handler = http.HandlerFunc(s.follow)
	}
	return s
}

// ServeHTTP answers the client.
func (s *Shadow) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

// Run compares replies until ctx is done. It drops those that wait then.
func (s *Shadow) Run(ctx context.Context) {
	var group sync.WaitGroup
	for range workers {
		group.Go(func() {
			for {
				select {
				case <-ctx.Done():
					return
				case next := <-s.queue:
					s.compare(ctx, next)
					s.memory.give(next.size())
				}
			}
		})
	}
	group.Wait()
	if client, ok := s.second.(*peer.Client); ok {
		client.Close()
	}
}

// follow lets the edge answer a request, and then passes on a copy of both.
func (s *Shadow) follow(w http.ResponseWriter, r *http.Request) {
	if !s.isSampled(r) {
		s.config.Edge.ServeHTTP(w, r)
		return
	}
	body := copyBody(r, &s.memory)
	defer body.end()
	tap := &tap{ResponseWriter: w, copied: copied{limit: maxReply, memory: &s.memory}}
	defer tap.drop()
	s.config.Edge.ServeHTTP(tap, r)
	s.enqueue(r, body, tap)
}

// isSampled decides whether a request is compared, if it turns out to be a read.
func (s *Shadow) isSampled(r *http.Request) bool {
	if r.Method != http.MethodGet && r.Method != http.MethodPost || !s.config.Prefix.Serves(r.URL.Path) {
		return false
	}
	if share := s.config.Flags.Sample; share < 1 && rand.Float64() >= share { // #nosec G404 -- a sample
		return false
	}
	if s.rate.Take("") > 0 {
		s.metrics.skip(skippedRate)
		return false
	}
	return true
}

// enqueue passes a request and the reply of the first server on. It does not wait.
func (s *Shadow) enqueue(r *http.Request, body *bodyCopy, reply *tap) {
	sent, isTooLong := body.text()
	next := job{
		request: request{
			method: r.Method, query: r.URL.RawQuery, contentType: r.Header.Get("Content-Type"), cookie: peer.SessionCookie(r.Header["Cookie"]),
			body: sent, id: requestid.From(r.Context()),
		},
		status: reply.status, encoding: reply.Header().Get("Content-Encoding"),
	}
	switch {
	case isTooLong || reply.isTooLong:
		s.metrics.skip(skippedLong)
	case reply.isWithout || !s.memory.take(next.size()):
		s.metrics.skip(skippedBusy)
	default:
		size := next.size()
		next.body = reply.bytes
		select {
		case s.queue <- next:
			reply.bytes = nil // it is the job's now
		default:
			s.memory.give(size)
			s.metrics.skip(skippedBusy)
		}
	}
}

// Flags are the settings of the comparison with an old server. Every program that serves the
// interface has them.
type Flags struct {
	// Shadow is the old server that gets reads, too. Primary is the old server that answers. At
	// most one is set.
	Shadow, Primary peer.Address
	// ReadOnly, unless empty, is the failure of whatever might change something on Primary.
	ReadOnly string
	// Sample is the share of the requests that are compared, above 0 and up to 1. Rate bounds
	// them per second; 0 is no limit.
	Sample, Rate float64
}

// maxSentence is the most bytes of a sentence.
const maxSentence = 1000

// Register declares the flags, with their defaults.
func (f *Flags) Register(flags *flag.FlagSet) {
	flags.Var(&f.Shadow, "shadow", "`address` of an old server that gets each read, too; its replies are compared and counted, and clients never see them (docs/moving-in.md)")
	flags.Var(&f.Primary, "primary", "`address` of an old server that answers every request, writes and other paths included; reads are also made here and compared")
	flags.StringVar(&f.ReadOnly, "primary-read-only", "", "`sentence` that clients get in reply to writes and logins; -primary then gets known reads only, for the time of a switch")
	flags.Float64Var(&f.Sample, "shadow-sample", 1, "share of the requests that -shadow or -primary compares, up to 1")
	flags.Float64Var(&f.Rate, "shadow-rate", 20, "limit of the requests per second that -shadow or -primary compares; 0 for none")
}

// IsOn reports whether replies are compared.
func (f *Flags) IsOn() bool { return !f.Shadow.IsZero() || !f.Primary.IsZero() }

// IsPrimary reports whether an old server answers the clients.
func (f *Flags) IsPrimary() bool { return !f.Primary.IsZero() }

// Old returns the address of the old server.
func (f *Flags) Old() peer.Address { return cmp.Or(f.Primary, f.Shadow) }

// Check reports the faults of the settings.
func (f *Flags) Check() error {
	var faults []error
	if !f.Shadow.IsZero() && !f.Primary.IsZero() {
		faults = append(faults, errors.New("-shadow and -primary exclude each other: either Waybook or the old server answers"))
	}
	switch {
	case f.ReadOnly == "":
	case !f.IsPrimary():
		faults = append(faults, errors.New("-primary-read-only needs -primary, the server that gets no writes"))
	case len(f.ReadOnly) > maxSentence:
		faults = append(faults, fmt.Errorf("-primary-read-only has %d bytes; want at most %d", len(f.ReadOnly), maxSentence))
	}
	if !(0 < f.Sample && f.Sample <= 1) {
		faults = append(faults, fmt.Errorf("-shadow-sample is %v; want a share above 0, up to 1", f.Sample))
	}
	if !(f.Rate >= 0) {
		faults = append(faults, fmt.Errorf("-shadow-rate is %v; want 0 or more", f.Rate))
	}
	return errors.Join(faults...)
}
