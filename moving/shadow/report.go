package shadow

import (
	"context"
	"log/slog"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/waybook/waybook/edge"
	"github.com/waybook/waybook/edge/operation"
	"github.com/waybook/waybook/internal/platform/admission"
	"github.com/waybook/waybook/internal/platform/process"
	"github.com/waybook/waybook/moving/comparison"
)

const (
	// linesPerSecond and lineBurst bound the log lines: ten at once, then one a second.
	linesPerSecond = 1
	lineBurst      = 10 * time.Second
	// maxPaths is the most differences in a line.
	maxPaths = 5
	// maxValue is the most bytes of a parameter in a line.
	maxValue = 32
)

// reporter logs differences. A line names what was read, so that an operator can read it again, and
// where the replies differ. It has no text of a reply, no cookie and no client.
type reporter struct {
	log        *slog.Logger
	rate       *admission.Rate
	suppressed atomic.Int64
	// subjects are the required parameters of the reads, by func.
	subjects map[string][]string
}

func newReporter(log *slog.Logger) *reporter {
	r := &reporter{log: log, rate: admission.NewRate(linesPerSecond, lineBurst, time.Now), subjects: map[string][]string{}}
	for _, each := range edge.Operations() {
		if each.IsAddition || each.Effect != operation.Reads {
			continue
		}
		for _, parameter := range each.Parameters {
			if parameter.IsRequired {
				r.subjects[each.Func] = append(r.subjects[each.Func], parameter.Name)
			}
		}
	}
	return r
}

// report logs a comparison that found a difference, or failed.
func (r *reporter) report(ctx context.Context, requestID string, asked edge.Asked, verdict comparison.Verdict, err error) {
	if err == nil && verdict.Outcome != comparison.Different {
		return
	}
	if r.rate.Take("") > 0 {
		r.suppressed.Add(1)
		return
	}
	attributes := []slog.Attr{
		slog.String("log", "shadow"), slog.String("func", asked.Function), slog.String("subject", r.subject(asked)),
		slog.String("request_id", requestID), slog.Int64("suppressed", r.suppressed.Swap(0)),
	}
	if err != nil {
		r.log.LogAttrs(ctx, slog.LevelWarn, "replies not compared", append(attributes, slog.Any("error", err))...)
		return
	}
	var places []string
	for _, each := range verdict.Differences[:min(maxPaths, len(verdict.Differences))] {
		places = append(places, each.Path+": "+each.What)
	}
	r.log.LogAttrs(ctx, slog.LevelWarn, "replies differ", append(attributes,
		slog.Int("differences", verdict.Count), slog.String("places", strings.Join(places, "; ")))...)
}

// subject returns the parameters that say what is read, such as albumID=12.
func (r *reporter) subject(asked edge.Asked) string {
	parameters, err := url.ParseQuery(asked.Query + "&" + asked.Body)
	if err != nil {
		return ""
	}
	var subject []string
	for _, name := range r.subjects[asked.Function] {
		if value := parameters.Get(name); len(value) <= maxValue {
			subject = append(subject, name+"="+value)
		}
	}
	return strings.Join(subject, " ")
}

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
