package service

import (
	"context"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/docstore/embedded"
	"github.com/waybook/waybook/internal/docstore/mongo"
	"github.com/waybook/waybook/internal/docstore/observed"
	"github.com/waybook/waybook/internal/docstore/restoring"
	"github.com/waybook/waybook/internal/platform/serve"
)

// Store is the store of a program.
type Store struct {
	// Engine counts and traces each call.
	docstore.Engine
	// Source copies the store; nil for a MongoDB.
	Source Source
}

// OpenStore opens a program's store and pushes its closing. It waits for MongoDB until ctx
// ends. It reports long steps of the start, such as building an index, to readiness and to
// the log. It refuses a store that was not loaded completely; see package restoring.
func OpenStore(
	ctx context.Context, env serve.Env, flags StoreFlags, metrics *serve.Metrics, readiness *serve.Readiness,
) (*Store, error) {
	opening := opening{readiness: readiness, log: env.Log, isShared: flags.MongoDBURI != ""}
	engine, err := opening.connect(ctx, flags)
	if err != nil {
		return nil, err
	}
	env.Stack.Push("store", func(context.Context) error { return engine.Close() })
	if err := restoring.Refuse(ctx, engine); err != nil {
		return nil, err
	}
	opened := &Store{}
	switch engine := engine.(type) {
	case *embedded.Engine:
		source := newEmbeddedSource(engine, flags)
		source.count(metrics)
		opened.Source = source
		env.Announce(slog.String("store", "embedded "+flags.File()))
		countFile(metrics, engine)
	case *mongo.Engine:
		env.Announce(slog.String("store", "mongodb "+engine.Location()))
	}
	calls := serve.NewDurations("waybook_store_call_duration_seconds",
		"Duration of calls to the store in seconds, by collection, verb, index and outcome.", "collection", "verb", "index", "outcome")
	metrics.Registry.MustRegister(calls)
	opening.Engine = engine
	opened.Engine = observed.Wrap(opening, env.Tracing.Tracer(), func(c observed.Call) {
		calls.WithLabelValues(c.Collection, c.Verb, c.Index, c.Outcome).Observe(c.Elapsed.Seconds())
	})
	return opened, nil
}

func countFile(metrics *serve.Metrics, file *embedded.Engine) {
	metrics.GaugeFunc("waybook_store_file_bytes", "Size of the embedded store's file in bytes.",
		func() float64 { return float64(file.FileBytes()) })
	metrics.CounterFunc("waybook_store_commits_total", "Commits of the embedded store, each with one sync of its file.", nil,
		func() float64 { return float64(file.Commits()) })
	metrics.CounterFunc("waybook_store_commit_writes_total", "Writes in the commits of the embedded store.", nil,
		func() float64 { return float64(file.CommittedWrites()) })
}

// Sweeps counts the sweeps of a program's services.
type Sweeps struct {
	count *prometheus.CounterVec
	last  *prometheus.GaugeVec
}

// NewSweeps adds the metrics of sweeps.
func NewSweeps(metrics *serve.Metrics) *Sweeps {
	s := &Sweeps{
		count: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "waybook_sweeps_total", Help: "Sweeps, by service and outcome (ok or error).",
		}, []string{"service", "outcome"}),
		last: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "waybook_sweep_last_success_timestamp_seconds", Help: "End of the last successful sweep as a Unix time, by service.",
		}, []string{"service"}),
	}
	metrics.Registry.MustRegister(s.count, s.last)
	return s
}

func (s *Sweeps) observe(service string, err error, now time.Time) {
	// Create both series at once, so that the first increase is visible.
	ok, failed := s.count.WithLabelValues(service, "ok"), s.count.WithLabelValues(service, "error")
	if err != nil {
		failed.Inc()
		return
	}
	ok.Inc()
	s.last.WithLabelValues(service).Set(float64(now.UnixMilli()) / 1000)
}
