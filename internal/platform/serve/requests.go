package serve

import (
	"flag"
	"log/slog"
	"net"
	"net/http"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/waybook/waybook/internal/platform/requestid"
)

// Answer is how a request to the edge was answered.
type Answer struct {
	// Function is the operation, or empty when the request named none, and Reason the
	// stable reason of its failure, or empty. Both have few values.
	Function, Reason string
	// Status is the HTTP status and Bytes the length of the body, as sent; zero when
	// nothing was.
	Status  int
	Bytes   int64
	Elapsed time.Duration
	// Signature is the outcome of verifying the request's signature, or empty when it was
	// not verified. It has few values.
	Signature string
}

// Requests follows the requests to the edge: it names and traces each, and counts and
// logs its answer. It may be used concurrently.
type Requests struct {
	env      Env
	metrics  *Metrics
	isLogged bool
}

// RegisterAccessLog declares the flag that NewRequests wants to know.
func RegisterAccessLog(flags *flag.FlagSet, isLogged *bool, byDefault bool) {
	flags.BoolVar(isLogged, "access-log", byDefault, "log a line for each request to /API.php")
}

// NewRequests follows requests; isLogged says that each is a line of the log.
func (e Env) NewRequests(metrics *Metrics, isLogged bool) *Requests {
	return &Requests{env: e, metrics: metrics, isLogged: isLogged}
}

// Follow returns a handler that begins what belongs to a request, and calls next. An id
// or a trace that the client names is not taken over.
func (f *Requests) Follow(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer begin(f.metrics.requestsInFlight)()
		id := requestid.New()
		w.Header().Set(requestid.Header, id)
		ctx, end := f.env.Tracing.StartRequest(requestid.With(r.Context(), id), r)
		defer end()
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

// Observe is told how a request was answered.
func (f *Requests) Observe(r *http.Request, a Answer) {
	f.metrics.ObserveRequest(a.Function, a.Reason, a.Elapsed)
	if a.Signature != "" {
		f.metrics.ObserveSignature(a.Signature)
	}
	if span := trace.SpanFromContext(r.Context()); span.IsRecording() {
		describeSpan(span, r, a)
	}
	if !f.isLogged {
		return
	}
	// Whose session it was is left out: together with the address it would be a record
	// of who was where. The URL and the form hold what people write, and may hold worse.
	remote, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		remote = r.RemoteAddr
	}
	attributes := []slog.Attr{
		slog.String("method", methodName(r.Method)), slog.String("func", a.Function), slog.String("reason", a.Reason),
		slog.Int("status", a.Status), slog.Int64("bytes", a.Bytes),
		slog.Float64("duration_ms", float64(a.Elapsed.Microseconds())/1000), slog.String("remote", remote),
	}
	if a.Signature != "" {
		attributes = append(attributes, slog.String("signature", a.Signature))
	}
	f.env.Log.LogAttrs(r.Context(), slog.LevelInfo, "request", attributes...)
}

func describeSpan(span trace.Span, r *http.Request, a Answer) {
	if a.Function != "" {
		span.SetName(a.Function)
	}
	span.SetAttributes(
		attribute.String("http.request.method", methodName(r.Method)), attribute.Int("http.response.status_code", a.Status),
		attribute.String("waybook.func", a.Function), attribute.String("waybook.reason", a.Reason))
	if a.Status >= http.StatusInternalServerError || a.Reason == "INTERNAL_ERROR" {
		span.SetStatus(codes.Error, a.Reason)
	}
}

// methodName is a method that the edge answers, or a word for all others: they may be
// anything.
func methodName(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost:
		return method
	}
	return "_OTHER"
}
