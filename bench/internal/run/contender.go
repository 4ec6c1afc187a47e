package run

import (
	"context"
	"time"

	"github.com/waybook/waybook/bench/internal/load"
	"github.com/waybook/waybook/bench/internal/process"
	"github.com/waybook/waybook/bench/internal/report"
)

// contender is one of the compared ways to serve a case.
type contender struct {
	name string
	open load.Opener
	// serves are the processes that take part in serving, the one in front first.
	serves []*process.Process
}

// The columns of the tables that other code refers to.
const (
	repliesPerSecond = "replies/s"
	serverCPU        = "CPU µs: servers"
	p50, p99         = "p50 ms", "p99 ms"
)

// closed runs a turn in a closed loop, at the maximum throughput of the contender, and adds its figures to a
// row: replies per second, and what a reply costs.
func (c contender) closed(ctx context.Context, connections int, duration time.Duration, to *report.Row) (done load.Result, err error) {
	used, err := process.Measure(c.serves, func() (err error) {
		done, err = load.Closed(ctx, c.open, connections, duration)
		return err
	})
	n := float64(len(done.Latencies) + connections) // including the uncounted first request of each connection
	to.Add(repliesPerSecond, done.Rate())
	to.Add(serverCPU, micros(used.CPU)/n)
	to.Add("in front", micros(used.Front)/n)
	to.Add("client", micros(used.Client)/n)
	if used.Allocations > 0 {
		to.Add("allocs", used.Allocations/n)
		to.Add("kB alloc", used.AllocatedBytes/n/1e3)
	}
	return done, err
}

// rateConnections is the maximum number of requests in flight at a fixed rate.
const rateConnections = 64

// atRate runs a turn in an open loop, at a fixed rate, and adds the latencies and the CPU time to a row.
func (c contender) atRate(ctx context.Context, rate float64, duration time.Duration, to *report.Row) error {
	var done load.Result
	used, err := process.Measure(c.serves, func() (err error) {
		done, err = load.AtRate(ctx, c.open, rateConnections, rate, duration)
		return err
	})
	to.Add("at /s", rate)
	to.Add(serverCPU, micros(used.CPU)/float64(len(done.Latencies)))
	addLatencies(to, done.Latencies)
	to.Add("sent late, ms", millis(done.Lateness.Quantile(0.5)))
	return err
}

func addLatencies(to *report.Row, latencies load.Latencies) {
	to.Add(p50, millis(latencies.Quantile(0.5)))
	to.Add(p99, millis(latencies.Quantile(0.99)))
}

// addMemory adds the memory of a process to a row.
func addMemory(to *report.Row, p *process.Process) error {
	memory, err := p.Memory()
	if err != nil {
		return err
	}
	to.Add("MiB own", memory.Own)
	to.Add("MiB in all", memory.All())
	return nil
}

func micros(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e3 }
func millis(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e6 }
