package shadow

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/waybook/waybook/internal/platform/process"
	"github.com/waybook/waybook/moving/comparison"
)

// The reasons why a request was not compared.
const (
	skippedRate      = "rate"      // above -shadow-rate
	skippedBusy      = "busy"      // too many comparisons wait
	skippedLong      = "long"      // the body or the reply is too long
	skippedRefused   = "refused"   // the first server refused for now
	skippedAmbiguous = "ambiguous" // another server may read the parameters otherwise
	skippedUnknown   = "unknown"   // no read of the legacy contract, or in JSON
)

// unread is the outcome of a comparison without a second reply, or with one that is none of the
// contract.
const unread = "unread"

type metrics struct {
	compared  *prometheus.CounterVec
	allowed   *prometheus.CounterVec
	skipped   *prometheus.CounterVec
	durations prometheus.Histogram
}

func newMetrics(registry prometheus.Registerer) *metrics {
	durations := process.NewDurations("waybook_shadow_second_reply_duration_seconds",
		"Duration of the second replies of compared requests, in seconds.")
	m := &metrics{
		compared: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "waybook_shadow_comparisons_total",
			Help: "Reads that two servers answered, by func and outcome: same, allowed, different, or unread without a second reply.",
		}, []string{"func", "outcome"}),
		allowed: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "waybook_shadow_allowed_total", Help: "Comparisons with a difference that a rule allows, by rule.",
		}, []string{"rule"}),
		skipped: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "waybook_shadow_skipped_total", Help: "Sampled requests that were not compared, by reason.",
		}, []string{"reason"}),
		durations: durations.WithLabelValues().(prometheus.Histogram),
	}
	registry.MustRegister(m.compared, m.allowed, m.skipped, durations)
	return m
}

func (m *metrics) skip(reason string) { m.skipped.WithLabelValues(reason).Inc() }

func (m *metrics) count(function string, verdict comparison.Verdict, err error) {
	outcome := verdict.Outcome.String()
	if err != nil {
		outcome = unread
	}
	m.compared.WithLabelValues(function, outcome).Inc()
	for _, rule := range verdict.Rules {
		m.allowed.WithLabelValues(rule.String()).Inc()
	}
}
