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
	sweeps.begin(name, time.Now())
	env.Stack.Go(ctx, "sweeper of "+name, func(ctx context.Context) {
		ticker := time.NewTicker(1 + chance.Below(sweepEvery))
		defer ticker.Stop()
		for {
			if err := sweeper.Sweep(ctx); ctx.Err() == nil {
				sweeps.observe(name, err, time.Now())
				if err != nil {
					env.Log.ErrorContext(ctx, "sweep failed", "service", name, "error", err)
				}
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
			Name: "waybook_sweep_last_success_timestamp_seconds", Help: "End of the last successful sweep as a Unix time, or the start if there was none, by service.",
		}, []string{"service"}),
	}
	metrics.Registry.MustRegister(s.count, s.last)
	return s
}

// begin creates the series of a service, so that its first increase and a first sweep that hangs are visible.
func (s *Sweeps) begin(service string, now time.Time) {
	s.count.WithLabelValues(service, "ok")
	s.count.WithLabelValues(service, "error")
	s.succeeded(service, now)
}

func (s *Sweeps) observe(service string, err error, now time.Time) {
	if err != nil {
		s.count.WithLabelValues(service, "error").Inc()
		return
	}
	s.count.WithLabelValues(service, "ok").Inc()
	s.succeeded(service, now)
}

func (s *Sweeps) succeeded(service string, at time.Time) {
	s.last.WithLabelValues(service).Set(float64(at.UnixMilli()) / 1000)
}
