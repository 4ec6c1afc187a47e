package service

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/waybook/waybook/internal/chance"
	"github.com/waybook/waybook/internal/platform/process"
)

// sweepEvery is the interval between two sweeps.
const sweepEvery = time.Minute

// Sweeper is a job of maintenance that a program repeats.
type Sweeper interface {
	// Name is the sweeper's name in metrics and logs.
	Name() string
	// Sweep does what is due.
	Sweep(ctx context.Context) error
}

// Sweep runs a sweeper now, again after a random part of the interval, and then once
// every interval. So replicas that start together do not sweep together for good.
func Sweep(ctx context.Context, env process.Env, sweeps *Sweeps, sweeper Sweeper) {
	name := sweeper.Name()
	// These series begin now, so that the first increase and a first sweep that hangs are visible.
	done, failed := sweeps.count.WithLabelValues(name, "ok"), sweeps.count.WithLabelValues(name, "error")
	last := sweeps.last.WithLabelValues(name)
	last.SetToCurrentTime()
	env.Stack.Go(ctx, "sweeper of "+name, func(ctx context.Context) {
		ticker := time.NewTicker(1 + chance.Below(sweepEvery))
		defer ticker.Stop()
		for {
			switch err := sweeper.Sweep(ctx); {
			case ctx.Err() != nil:
			case err != nil:
				failed.Inc()
				env.Log.ErrorContext(ctx, "sweep failed", "service", name, "error", err)
			default:
				done.Inc()
				last.SetToCurrentTime()
			}
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
				ticker.Reset(sweepEvery)
			}
		}
	})
}

// Sweeps counts the sweeps of a program's services.
type Sweeps struct {
	count *prometheus.CounterVec
	last  *prometheus.GaugeVec
}

// NewSweeps adds the metrics of sweeps.
func NewSweeps(metrics *process.Metrics) *Sweeps {
	s := &Sweeps{
		count: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "waybook_sweeps_total", Help: "Sweeps, by service and outcome (ok or error).",
		}, []string{"service", "outcome"}),
		last: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "waybook_sweep_last_success_timestamp_seconds",
			Help: "End of the last successful sweep as a Unix time, or the start if there was none, by service.",
		}, []string{"service"}),
	}
	metrics.Registry.MustRegister(s.count, s.last)
	return s
}
