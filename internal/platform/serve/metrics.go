package serve

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"google.golang.org/grpc/codes"

	"github.com/waybook/waybook/internal/platform/admission"
	"github.com/waybook/waybook/internal/platform/buildinfo"
)

// Metrics are what a program counts, in Prometheus's terms. Every label has few values,
// whatever callers send. It may be used concurrently.
type Metrics struct {
	Registry *prometheus.Registry

	calls         *prometheus.HistogramVec
	callsInFlight prometheus.Gauge
	streamsOpen   prometheus.Gauge
}

// NewMetrics returns metrics on a registry of their own.
func NewMetrics() *Metrics {
	m := &Metrics{
		Registry: prometheus.NewRegistry(),
		calls: NewDurations("waybook_rpc_duration_seconds",
			"How long RPCs took to be served, by method and status code.", "method", "code"),
		callsInFlight: newGauge("waybook_rpc_calls_in_flight", "Unary RPCs that are being served."),
		streamsOpen:   newGauge("waybook_rpc_streams_open", "Streaming RPCs that are being served."),
	}
	m.Registry.MustRegister(m.calls, m.callsInFlight, m.streamsOpen, buildInfo(),
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

// GaugeFunc adds a gauge that is asked for its value when it is wanted.
func (m *Metrics) GaugeFunc(name, help string, value func() float64) {
	m.Registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, value))
}

// CounterFunc adds a counter that is asked for its value when it is wanted. labels, which
// may be nil, are constant.
func (m *Metrics) CounterFunc(name, help string, labels map[string]string, value func() float64) {
	m.Registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help, ConstLabels: labels}, value))
}

// CountGate adds what a gate counts; one without limits counts nothing.
func (m *Metrics) CountGate(name string, g *admission.Gate) {
	if g == nil {
		return
	}
	labels := prometheus.Labels{"gate": name}
	for _, each := range []struct {
		name, help string
		value      func(admission.Stats) int64
	}{
		{"waybook_gate_inside", "What is being done of what is bounded, by gate.", func(s admission.Stats) int64 { return s.Inside }},
		{"waybook_gate_waiting", "What waits for its turn, by gate.", func(s admission.Stats) int64 { return s.Waiting }},
	} {
		m.Registry.MustRegister(prometheus.NewGaugeFunc(
			prometheus.GaugeOpts{Name: each.name, Help: each.help, ConstLabels: labels},
			func() float64 { return float64(each.value(g.Stats())) }))
	}
	m.CounterFunc("waybook_gate_refused_total", "What was refused because as much was being done as may be, by gate.", labels,
		func() float64 { return float64(g.Stats().Refused) })
}

// buildInfo is 1; its labels report what was built.
func buildInfo() prometheus.Collector {
	build := buildinfo.Read()
	info := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "waybook_build_info", Help: "1; the labels tell what the program was built from.",
		ConstLabels: prometheus.Labels{"version": build.Version, "revision": build.Commit, "go_version": build.GoVersion},
	})
	info.Set(1)
	return info
}

// ObserveCall counts a call to a service. method is one that is registered, so the
// number of series is bounded.
func (m *Metrics) ObserveCall(method string, code codes.Code, elapsed time.Duration) {
	m.calls.WithLabelValues(method, code.String()).Observe(elapsed.Seconds())
}

// BeginCall counts a unary call as being served, until the function returned is called.
func (m *Metrics) BeginCall() (end func()) { return begin(m.callsInFlight) }

// BeginStream does the same for a streaming call.
func (m *Metrics) BeginStream() (end func()) { return begin(m.streamsOpen) }

func begin(inFlight prometheus.Gauge) (end func()) {
	inFlight.Inc()
	return inFlight.Dec
}
