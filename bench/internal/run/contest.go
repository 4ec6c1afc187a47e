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

// result is what the rounds of one contender in one case showed.
type result struct {
	contender
	// rate is in replies a second; the others are for each reply, times in µs.
	rate, frontCPU, serverCPU, clientCPU report.Spread
	allocations, allocatedBytes          report.Spread
	// p50, p99 and p999 are the latencies in ms at the rate asked, and lateness is the
	// load maker's own part in p50. All are empty when there were too few requests.
	rateAsked, p50, p99, p999, lateness report.Spread
}

// fewestRequests is below what number a round says nothing about latencies.
const fewestRequests = 100

// contest lets contenders take turns, so that all of them meet the same machine.
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
	// All at the same rate: half of what the slowest of them can do.
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

// turns are A B, B A, A B and so on, so that what drifts drifts for all.
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

// closed is a round as fast as the contender can.
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
	n := float64(len(done.Latencies) + connections) // with the first of each, which has no latency
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

// rateConnections is how many requests may be under way at a fixed rate.
const rateConnections = 64

// atRate is a round at a fixed rate.
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
