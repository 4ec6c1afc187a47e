package run

import (
	"context"
	"fmt"
	"time"

	"github.com/waybook/waybook/bench/internal/baseline"
	"github.com/waybook/waybook/bench/internal/process"
	"github.com/waybook/waybook/bench/internal/report"
)

// byBusyBaseline is a baseline that serves the same bytes after it has computed for as long as
// the edge and the services. It allocates no memory, does not wait and shares nothing. So its
// latency comes from net/http, the load generator, the kernel and the machine.
const byBusyBaseline contenderName = "baseline: net/http, as much CPU"

// latencies measures the latency of the edge at half of its own throughput, and of baselines
// at the same rate. It returns a separate table.
func (b *bench) latencies(ctx context.Context, d *deployment, c testCase, results []result, baselines *process.Process) (table report.Table, err error) {
	var edge, least result
	for _, r := range results {
		switch r.name {
		case byEdge:
			edge = r
		case byHTTPBaseline:
			least = r
		}
	}
	busy, err := b.asBusy(ctx, c, edge, least, baselines)
	if err != nil {
		return table, err
	}

	half := edge.rate.Median() / 2
	compared := []*result{&edge, &busy, &least}
	for _, r := range compared {
		r.p50, r.p99, r.p999 = nil, nil, nil // the contest measured at another rate
	}
	for at := range turns(b.settings.Rounds, len(compared)) {
		if err := compared[at].atRate(ctx, half, b.settings.Duration); err != nil {
			return table, err
		}
	}
	table = report.Table{
		Title: fmt.Sprintf("Latency at half of what the edge can do, %s, %s", d.name, c.name),
		Rows:  [][]string{{"contender", "replies/s at most", "CPU µs: servers", "at /s", "p50 ms", "p99 ms", "p99.9 ms", "p99 / p50"}},
		Notes: []string{standstill(b.settings.Duration).String()},
	}
	tail := func(r *result) string { return report.Number(r.p99.Median()/r.p50.Median()) + "×" }
	for _, r := range compared {
		table.Add(string(r.name), r.rate.String(), r.serverCPU.String(), r.rateAsked.String(),
			r.p50.String(), r.p99.String(), r.p999.String(), tail(r))
	}
	b.target(edge.p99.Median() < 5*edge.p50.Median(),
		fmt.Sprintf("%s ms, %s the p50 of %s ms; a handler that only computes for as long: %s ms, %s",
			report.Number(edge.p99.Median()), tail(&edge), report.Number(edge.p50.Median()), report.Number(busy.p99.Median()), tail(&busy)),
		"< 5× p50", "%s, %s: p99 at half of the edge's throughput (%s/s)", d.name, c.name, edge.rateAsked)
	return table, nil
}

// asBusy measures a baseline that takes as much CPU time as the edge and the services.
func (b *bench) asBusy(ctx context.Context, c testCase, edge, least result, baselines *process.Process) (result, error) {
	rounds := func(work float64, count int) (r result, err error) {
		r.contender = least.contender
		r.name = byBusyBaseline
		path := baseline.BusyPath(c.name, time.Duration(work*float64(time.Microsecond)))
		r.open = opener(baselines.Addresses["http"], get11(path), wantXML)
		for range count {
			if err := r.closed(ctx, c.connections, b.settings.Duration); err != nil {
				return r, err
			}
		}
		return r, nil
	}
	work := max(0, edge.serverCPU.Median()-least.serverCPU.Median())
	trial, err := rounds(work, 1)
	if err != nil {
		return trial, err
	}
	// Correct the work: the baseline calibrated its microseconds when nothing else ran.
	if took := trial.serverCPU.Median() - least.serverCPU.Median(); took > 0 {
		work *= work / took
	}
	return rounds(work, b.settings.Rounds)
}
