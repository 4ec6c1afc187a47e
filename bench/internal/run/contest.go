package run

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/waybook/waybook/bench/internal/load"
	"github.com/waybook/waybook/bench/internal/process"
	"github.com/waybook/waybook/bench/internal/report"
)

// result is the results of one contender in one case, over all rounds.
type result struct {
	contender
	// rate is in replies per second. The others are per reply, times in µs.
	rate, frontCPU, serverCPU, clientCPU report.Spread
	allocations, allocatedBytes          report.Spread
	// p50, p99 and p999 are the latencies in ms at rateAsked, in requests per second.
	// lateness is the median lateness of the load generator in ms, which is part of the
	// latencies. All are empty if a round had too few requests.
	rateAsked, p50, p99, p999, lateness report.Spread
}

// fewestRequests is the minimum number of requests in a round to report latencies.
const fewestRequests = 100

// contest measures contenders in turn, so that changes of the machine affect all of them.
func contest(ctx context.Context, s Settings, list []contender, connections int) ([]result, error) {
	results := make([]result, len(list))
	for i := range list {
		results[i].contender = list[i]
	}
	for at := range turns(s.Rounds, len(list)) {
		if err := results[at].closed(ctx, connections, s.Duration); err != nil {
			return nil, fmt.Errorf("%s: %w", list[at].name, err)
		}
	}
	// Measure latency at the same rate for all: half of the throughput of the slowest.
	rate := results[0].rate.Median()
	for _, r := range results {
		rate = min(rate, r.rate.Median())
	}
	if rate/2*s.Duration.Seconds() < fewestRequests {
		return results, nil
	}
	for at := range turns(s.Rounds, len(list)) {
		if err := results[at].atRate(ctx, rate/2, s.Duration); err != nil {
			return nil, fmt.Errorf("%s at a rate: %w", list[at].name, err)
		}
	}
	return results, nil
}

// turns returns the order A B, B A, A B and so on, so that a drift of the machine affects all
// contenders equally.
func turns(rounds, count int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for round := range rounds {
			for i := range count {
				if round%2 == 1 {
					i = count - 1 - i
				}
				if !yield(i) {
					return
				}
			}
		}
	}
}

// closed runs a round in a closed loop, at the maximum throughput of the contender.
func (r *result) closed(ctx context.Context, connections int, duration time.Duration) error {
	before, err := usages(r.serves)
	if err != nil {
		return err
	}
	own, err := process.OwnCPU()
	if err != nil {
		return err
	}
	done, err := load.Closed(ctx, r.open, connections, duration)
	if err != nil {
		return err
	}
	ownAfter, err := process.OwnCPU()
	if err != nil {
		return err
	}
	after, err := usages(r.serves)
	if err != nil {
		return err
	}
	n := float64(len(done.Latencies) + connections) // including the uncounted first request of each connection
	r.rate = append(r.rate, done.Rate())
	r.clientCPU = append(r.clientCPU, micros(ownAfter-own)/n)
	var all process.Usage
	for i := range after {
		used := after[i].Minus(before[i])
		if i == 0 {
			r.frontCPU = append(r.frontCPU, micros(used.CPU)/n)
		}
		all = all.Plus(used)
	}
	r.serverCPU = append(r.serverCPU, micros(all.CPU)/n)
	r.allocations = append(r.allocations, all.Allocations/n)
	r.allocatedBytes = append(r.allocatedBytes, all.AllocatedBytes/n)
	return nil
}

// rateConnections is the maximum number of requests in flight at a fixed rate.
const rateConnections = 64

// atRate runs a round in an open loop, at a fixed rate.
func (r *result) atRate(ctx context.Context, rate float64, duration time.Duration) error {
	done, err := load.AtRate(ctx, r.open, rateConnections, rate, duration)
	if err != nil {
		return err
	}
	r.rateAsked = report.Spread{rate}
	r.p50 = append(r.p50, millis(done.Latencies.Quantile(0.5)))
	r.p99 = append(r.p99, millis(done.Latencies.Quantile(0.99)))
	r.p999 = append(r.p999, millis(done.Latencies.Quantile(0.999)))
	r.lateness = append(r.lateness, millis(done.Lateness.Quantile(0.5)))
	return nil
}

func usages(processes []*process.Process) (all []process.Usage, failed error) {
	for _, each := range processes {
		used, err := each.Usage()
		failed = errors.Join(failed, err)
		all = append(all, used)
	}
	return all, failed
}

func micros(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e3 }
func millis(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e6 }
