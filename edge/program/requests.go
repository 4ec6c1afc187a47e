package program

import (
	"log/slog"
	"net"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/waybook/waybook/edge"
	"github.com/waybook/waybook/internal/platform/process"
	"github.com/waybook/waybook/internal/platform/requestid"
)

// requests observes the requests to the edge: it gives each an id and a trace, counts its answer,
// and logs it if isLogged. It is safe for concurrent use.
type requests struct {
	env      process.Env
	isLogged bool

	durations *prometheus.HistogramVec
	inFlight  prometheus.Gauge
	leftOut   prometheus.Counter
}

// newRequests returns a requests and registers its metrics.
func newRequests(env process.Env, metrics *process.Metrics, isLogged bool) *requests {
	r := &requests{
		env: env, isLogged: isLogged,
		durations: process.NewDurations("waybook_edge_request_duration_seconds",
			"Duration of requests to the edge, by func (/upload/ for files of photos) and failure reason (empty "+
				"for success).", "func", "reason"),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "waybook_edge_requests_in_flight", Help: "Requests to the edge in flight.",
		}),
		leftOut: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "waybook_edge_failures_left_out_total",
			Help: "Failed requests without a line in the log, because of its limits.",
		}),
	}
	metrics.Registry.MustRegister(r.durations, r.inFlight, r.leftOut)
	return r
}

// follow returns a handler that starts the id, the trace and the in-flight count of a request,
// and then calls next. It ignores a request id from the client. The trace is a new one that
// links the client's.
func (f *requests) follow(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.inFlight.Inc()
		defer f.inFlight.Dec()
		id := requestid.New()
		w.Header().Set(requestid.Header, id)
		ctx, end := f.env.Tracing.StartRequest(requestid.With(r.Context(), id))
		defer end()
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

// observe records the answer to a request.
func (f *requests) observe(r *http.Request, a edge.Answer) {
	f.durations.WithLabelValues(a.Function, a.Reason).Observe(a.Elapsed.Seconds())
	if span := trace.SpanFromContext(r.Context()); span.IsRecording() {
		describeSpan(span, r, a)
	}
	if a.IsLeftOut {
		f.leftOut.Inc()
	}
	if !f.isLogged {
		return
	}
	// The line leaves out the user: with the address, it would record the whereabouts of people.
	// It also leaves out the URL and the form, which hold private text.
	remote, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		remote = r.RemoteAddr
	}
	attributes := []slog.Attr{
		slog.String("method", methodName(r.Method)), slog.String("func", a.Function), slog.String("reason", a.Reason),
		slog.Int("status", a.Status), slog.Int64("bytes", a.Bytes),
		slog.Float64("duration_ms", float64(a.Elapsed.Microseconds())/1000), slog.String("remote", remote),
	}
	f.env.Log.LogAttrs(r.Context(), slog.LevelInfo, "request", attributes...)
}

func describeSpan(span trace.Span, r *http.Request, a edge.Answer) {
	if a.Function != "" {
		span.SetName(a.Function)
	}
	span.SetAttributes(
		attribute.String("http.request.method", methodName(r.Method)),
		attribute.Int("http.response.status_code", a.Status),
		attribute.String("waybook.func", a.Function), attribute.String("waybook.reason", a.Reason))
	if a.Status >= http.StatusInternalServerError || a.Reason == "INTERNAL_ERROR" {
		span.SetStatus(codes.Error, a.Reason)
	}
}

// methodName returns a method that the edge serves, or "_OTHER": clients can invent any number
// of methods.
func methodName(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost:
		return method
	}
	return "_OTHER"
}
