package serve

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"google.golang.org/grpc/codes"
)

// Metrics are what a program counts, in Prometheus's terms. It may be used
// concurrently.
type Metrics struct {
	Registry *prometheus.Registry

	calls    *prometheus.HistogramVec
	requests *prometheus.HistogramVec
}

// NewMetrics returns metrics on a registry of their own.
func NewMetrics() *Metrics {
	m := &Metrics{
		Registry: prometheus.NewRegistry(),
		calls: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "waybook_rpc_duration_seconds",
			Help:    "How long RPCs took to be served, by method and status code.",
			Buckets: prometheus.ExponentialBuckets(0.0001, 4, 9),
		}, []string{"method", "code"}),
		requests: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "waybook_edge_request_duration_seconds",
			Help:    "How long requests to /API.php took to be served, by func and reason of failure (empty when none).",
			Buckets: prometheus.ExponentialBuckets(0.0001, 4, 9),
		}, []string{"func", "reason"}),
	}
	m.Registry.MustRegister(m.calls, m.requests,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// ObserveRequest counts a request to the edge. function is one of the table's, or
// empty, so the number of series is bounded.
func (m *Metrics) ObserveRequest(function, reason string, elapsed time.Duration) {
	m.requests.WithLabelValues(function, reason).Observe(elapsed.Seconds())
}

// ObserveCall counts a call to a service. method is one that is registered, so the
// number of series is bounded.
func (m *Metrics) ObserveCall(method string, code codes.Code, elapsed time.Duration) {
	m.calls.WithLabelValues(method, code.String()).Observe(elapsed.Seconds())
}
