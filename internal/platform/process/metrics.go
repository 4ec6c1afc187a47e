package process

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/waybook/waybook/internal/platform/admission"
	"github.com/waybook/waybook/internal/platform/buildinfo"
	"github.com/waybook/waybook/internal/platform/connlimit"
)

// Metrics are a program's Prometheus metrics. Every label has few values, whatever callers
// send. They may be used concurrently.
type Metrics struct {
	Registry *prometheus.Registry
	// Calls are the durations of calls, by method, which must be a registered one, and code. The
	// others count those in flight.
	Calls                      *prometheus.HistogramVec
	CallsInFlight, StreamsOpen prometheus.Gauge
}

// NewMetrics returns metrics with their own registry.
func NewMetrics() *Metrics {
	m := &Metrics{
		Registry: prometheus.NewRegistry(),
		Calls: NewDurations("waybook_rpc_duration_seconds",
			"Duration of RPCs in seconds, by method and status code.", "method", "code"),
		CallsInFlight: newGauge("waybook_rpc_calls_in_flight", "Unary RPCs in flight."),
		StreamsOpen:   newGauge("waybook_rpc_streams_open", "Streaming RPCs in flight."),
	}
	m.Registry.MustRegister(m.Calls, m.CallsInFlight, m.StreamsOpen, buildInfo(),
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// NewDurations returns a histogram of seconds, from 100 µs to 6.6 s.
func NewDurations(name, help string, labels ...string) *prometheus.HistogramVec {
	return prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: name, Help: help, Buckets: prometheus.ExponentialBuckets(0.0001, 4, 9),
	}, labels)
}

func newGauge(name, help string) prometheus.Gauge {
	return prometheus.NewGauge(prometheus.GaugeOpts{Name: name, Help: help})
}

// GaugeFunc adds a gauge that reads its value from a function at each scrape. labels
// are constant and may be nil.
func (m *Metrics) GaugeFunc(name, help string, labels map[string]string, value func() float64) {
	m.Registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help, ConstLabels: labels},
		value))
}

// CounterFunc is GaugeFunc for a counter.
func (m *Metrics) CounterFunc(name, help string, labels map[string]string, value func() float64) {
	m.Registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help,
		ConstLabels: labels}, value))
}

// CountGate adds the metrics of a gate. A nil gate has no limit and no metrics.
func (m *Metrics) CountGate(name string, g *admission.Gate) {
	if g == nil {
		return
	}
	labels := prometheus.Labels{"gate": name}
	m.GaugeFunc("waybook_gate_inside", "Requests in flight under a concurrency limit, by gate.", labels,
		func() float64 { return float64(g.Stats().Inside) })
	m.GaugeFunc("waybook_gate_waiting", "Requests queued by a concurrency limit, by gate.", labels,
		func() float64 { return float64(g.Stats().Waiting) })
	m.GaugeFunc("waybook_gate_limit", "Largest number of requests in flight under a concurrency limit, by gate.",
		labels,
		func() float64 { return float64(g.Limit()) })
	m.CounterFunc("waybook_gate_refused_total", "Requests rejected by a concurrency limit, by gate.", labels,
		func() float64 { return float64(g.Stats().Refused) })
}

// CountConnections adds the metrics of the connections of a port.
func (m *Metrics) CountConnections(port string, l *connlimit.Limiter) {
	labels := prometheus.Labels{"port": port}
	m.GaugeFunc("waybook_connections_open", "Open connections, by port.", labels,
		func() float64 { return float64(l.Stats().Open) })
	m.CounterFunc("waybook_connections_refused_total", "Connections closed at once by a limit, by port.", labels,
		func() float64 { return float64(l.Stats().Refused) })
	m.CounterFunc("waybook_connections_displaced_total", "Idle connections closed to make room for new ones, by port.",
		labels,
		func() float64 { return float64(l.Stats().Displaced) })
}

// buildInfo returns a gauge that is always 1. Its labels describe the build.
func buildInfo() prometheus.Collector {
	build := buildinfo.Read()
	info := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "waybook_build_info", Help: "Build of the program, in the labels; the value is always 1.",
		ConstLabels: prometheus.Labels{"version": build.Version, "revision": build.Commit,
			"go_version": build.GoVersion},
	})
	info.Set(1)
	return info
}
