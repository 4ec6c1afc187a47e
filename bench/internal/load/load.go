// Package load makes requests and takes the time: as many as a contender can answer
// (Closed), or at a fixed rate whatever it does (AtRate).
//
// It is small on purpose. What makes the load shares the machine's cores with what is
// measured, so each of its microseconds is one less for the contender. The usual tools
// are programs that would have to be installed, and none of them makes both kinds of
// load over both HTTP and gRPC.
package load

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// Connection makes requests one after the other. Only one goroutine uses it.
type Connection interface {
	// Do makes a request and reads all of its reply, which must be a success.
	Do(context.Context) error
	Close() error
}

// Opener opens the n-th connection, from 0.
type Opener func(n int) (Connection, error)

// Latencies are how long requests took.
type Latencies []time.Duration

// Quantile is the latency that a part q, from 0 to 1, of the requests did not exceed.
// The latencies must be sorted.
func (l Latencies) Quantile(q float64) time.Duration {
	if len(l) == 0 {
		return 0
	}
	return l[min(len(l)-1, int(q*float64(len(l))))]
}

// Result is what a run showed.
type Result struct {
	// Elapsed is from the beginning until the last reply.
	Elapsed time.Duration
	// Latencies are sorted. In an open loop they count from when a request was due.
	Latencies Latencies
	// Lateness, in an open loop, is how late requests were begun, sorted. What there
	// is of it when connections are free is the load maker's own.
	Lateness Latencies
}

// Rate is the number of replies a second.
func (r Result) Rate() float64 { return float64(len(r.Latencies)) / r.Elapsed.Seconds() }

// pool is a number of open connections.
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

// each runs work for every connection at once and returns what all of them measured,
// merged and sorted.
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
