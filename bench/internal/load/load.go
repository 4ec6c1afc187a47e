// Package load generates load and measures latency: as many requests as a contender can
// serve (Closed), or requests at a fixed rate (AtRate).
//
// It is small on purpose. The load generator shares the cores of the machine with the
// contender, so CPU time that it uses is lost to the contender. The usual tools would have
// to be installed, and none generates both kinds of load over both HTTP and gRPC.
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
	// Latencies are sorted. In an open loop they count from the time when a request was due.
	Latencies Latencies
	// Lateness, in an open loop, is how late each request started, sorted. If connections
	// were free, the load generator itself was late.
	Lateness Latencies
}

// Rate returns the number of replies per second.
func (r Result) Rate() float64 { return float64(len(r.Latencies)) / r.Elapsed.Seconds() }

// pool is a set of open connections.
type pool []Connection

func openAll(open Opener, count int) (pool, error) {
	var opened pool
	for n := range count {
		connection, err := open(n)
		if err != nil {
			return nil, errors.Join(err, opened.close())
		}
		opened = append(opened, connection)
	}
	return opened, nil
}

func (p pool) close() error {
	var failed error
	for _, connection := range p {
		failed = errors.Join(failed, connection.Close())
	}
	return failed
}

// each runs work concurrently for every connection. It returns their measurements, merged
// and sorted.
func (p pool) each(work func(Connection) (latencies, lateness Latencies, err error)) (Result, error) {
	type outcome struct {
		latencies, lateness Latencies
		err                 error
	}
	outcomes := make([]outcome, len(p))
	began := time.Now()
	var group sync.WaitGroup
	for i, connection := range p {
		group.Go(func() {
			latencies, lateness, err := work(connection)
			outcomes[i] = outcome{latencies, lateness, err}
		})
	}
	group.Wait()
	all := Result{Elapsed: time.Since(began)}
	var failed error
	for _, each := range outcomes {
		all.Latencies = append(all.Latencies, each.latencies...)
		all.Lateness = append(all.Lateness, each.lateness...)
		failed = errors.Join(failed, each.err)
	}
	slices.Sort(all.Latencies)
	slices.Sort(all.Lateness)
	return all, failed
}
