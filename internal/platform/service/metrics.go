package service

import (
	"context"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/waybook/waybook/internal/content/profiles"
	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/docstore/embedded"
	"github.com/waybook/waybook/internal/docstore/mongo"
	"github.com/waybook/waybook/internal/docstore/observed"
	"github.com/waybook/waybook/internal/platform/serve"
)

// OpenStore opens a program's store, pushes its closing, and has each call to it
// counted and traced.
func OpenStore(ctx context.Context, env serve.Env, flags StoreFlags, metrics *serve.Metrics) (docstore.Engine, error) {
	engine, err := flags.Open(ctx)
	if err != nil {
		return nil, err
	}
	env.Stack.Push("store", func(context.Context) error { return engine.Close() })
	switch engine := engine.(type) {
	case *embedded.Engine:
		env.Announce(slog.String("store", "embedded "+flags.file()))
		countFile(metrics, engine)
	case *mongo.Engine:
		env.Announce(slog.String("store", "mongodb "+engine.Location()))
	}
	calls := serve.NewDurations("waybook_store_call_duration_seconds",
		"How long calls to the store took, by collection, verb, index and outcome.", "collection", "verb", "index", "outcome")
	metrics.Registry.MustRegister(calls)
	return observed.Wrap(engine, env.Tracing.Tracer(), func(c observed.Call) {
		calls.WithLabelValues(c.Collection, c.Verb, c.Index, c.Outcome).Observe(c.Elapsed.Seconds())
	}), nil
}

func countFile(metrics *serve.Metrics, file *embedded.Engine) {
	metrics.GaugeFunc("waybook_store_file_bytes", "Size of the embedded store's file.",
		func() float64 { return float64(file.FileBytes()) })
	metrics.CounterFunc("waybook_store_commits_total", "Commits of the embedded store, each with a sync of its file.", nil,
		func() float64 { return float64(file.Commits()) })
	metrics.CounterFunc("waybook_store_commit_writes_total", "Writes that shared the commits of the embedded store.", nil,
		func() float64 { return float64(file.CommittedWrites()) })
}

// CountNames adds what the cache of users' names counts.
func CountNames(metrics *serve.Metrics, names *profiles.Directory) {
	const lookups = "waybook_people_lookups_total"
	const help = "Users whose names were looked up, by whether the cache had them."
	metrics.CounterFunc(lookups, help, map[string]string{"result": "hit"}, func() float64 { return float64(names.Stats().Hits) })
	metrics.CounterFunc(lookups, help, map[string]string{"result": "miss"}, func() float64 { return float64(names.Stats().Misses) })
	metrics.CounterFunc("waybook_people_stale_total",
		"Replies with the last known names, since the account service did not answer.", nil,
		func() float64 { return float64(names.Stats().Stale) })
	metrics.GaugeFunc("waybook_people_cached", "Users in the cache of names.", func() float64 { return float64(names.Stats().Size) })
}

// Sweeps counts the sweeps of a program's services.
type Sweeps struct {
	count *prometheus.CounterVec
	last  *prometheus.GaugeVec
}

// NewSweeps adds the counts of sweeps.
func NewSweeps(metrics *serve.Metrics) *Sweeps {
	s := &Sweeps{
		count: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "waybook_sweeps_total", Help: "Sweeps, by service and outcome, which is ok or error.",
		}, []string{"service", "outcome"}),
		last: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "waybook_sweep_last_success_timestamp_seconds", Help: "When a service's last sweep that succeeded ended.",
		}, []string{"service"}),
	}
	metrics.Registry.MustRegister(s.count, s.last)
	return s
}

func (s *Sweeps) observe(service string, err error, now time.Time) {
	// Both from the start, so that an increase shows when the first one comes.
	ok, failed := s.count.WithLabelValues(service, "ok"), s.count.WithLabelValues(service, "error")
	if err != nil {
		failed.Inc()
		return
	}
	ok.Inc()
	s.last.WithLabelValues(service).Set(float64(now.UnixMilli()) / 1000)
}
