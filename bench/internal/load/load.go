// Package load generates load, as many requests as a contender can serve, and measures latency.
//
// It is small on purpose. The load generator shares the cores of the machine with the
// contender, so CPU time that it uses is lost to the contender.
package load

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// Connection makes requests one after the other. It must be used by one goroutine only.
type Connection interface {
	// Do makes a request and reads the whole reply. It fails unless the reply is a success.
	Do(context.Context) error
	Close() error
}

// Func makes a request, for connections that somebody else closes.
type Func func(context.Context) error

// Do makes a request.
func (f Func) Do(ctx context.Context) error { return f(ctx) }

// Close does nothing.
func (f Func) Close() error { return nil }

// Opener opens the n-th connection, from 0.
type Opener func(n int) (Connection, error)

// Latencies are the durations of requests.
type Latencies []time.Duration

// Quantile returns the q-quantile of the latencies, with q from 0 to 1. The latencies must
// be sorted.
func (l Latencies) Quantile(q float64) time.Duration {
	if len(l) == 0 {
		return 0
	}
	return l[min(len(l)-1, int(q*float64(len(l))))]
}

// Result is the result of a run.
type Result struct {
	// Elapsed is the time from the start until the last reply.
	Elapsed time.Duration
	// Latencies are sorted.
	Latencies Latencies
}

// Rate returns the number of replies per second.
func (r Result) Rate() float64 { return float64(len(r.Latencies)) / r.Elapsed.Seconds() }

// Closed generates a closed loop: each connection sends its next request as soon as it has
// the reply, and makes at least one. It measures the maximum throughput for that number of
// clients. Before, each connection makes a request that sets it up and is not counted.
func Closed(ctx context.Context, open Opener, connections int, duration time.Duration) (result Result, err error) {
	var opened []Connection
	defer func() {
		for _, connection := range opened {
			err = errors.Join(err, connection.Close())
		}
	}()
	for n := range connections {
		connection, err := open(n)
		if err != nil {
			return result, err
		}
		opened = append(opened, connection)
	}
	if err := together(opened, func(_ int, connection Connection) error { return connection.Do(ctx) }); err != nil {
		return result, err
	}
	latencies := make([]Latencies, connections)
	start := time.Now()
	err = together(opened, func(n int, connection Connection) error {
		for began := start; ; {
			if err := connection.Do(ctx); err != nil {
				return err
			}
			now := time.Now()
			latencies[n] = append(latencies[n], now.Sub(began))
			if began = now; now.Sub(start) >= duration {
				return nil
			}
		}
	})
	result = Result{time.Since(start), slices.Concat(latencies...)}
	slices.Sort(result.Latencies)
	return result, err
}

// together works on all connections at once, and returns the errors.
func together(connections []Connection, work func(n int, connection Connection) error) error {
	errs := make([]error, len(connections))
	var group sync.WaitGroup
	for n, connection := range connections {
		group.Go(func() { errs[n] = work(n, connection) })
	}
	group.Wait()
	return errors.Join(errs...)
}
