// Package load sends requests in a closed loop: as many as a contender can serve.
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

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
)

// Connection makes requests one after the other. It must be used by one goroutine only.
type Connection interface {
	// Do makes a request and reads the whole reply. It fails unless the reply is a success.
	Do(context.Context) error
	Close() error
}

// Func makes a request, for connections that the caller closes.
type Func func(context.Context) error

// Do makes a request.
func (f Func) Do(ctx context.Context) error { return f(ctx) }

// Close does nothing.
func (f Func) Close() error { return nil }

// Opener opens the n-th connection, from 0.
type Opener func(n int) (Connection, error)

// Result is the result of a run.
type Result struct {
	// Elapsed is the time from the start until the last reply.
	Elapsed time.Duration
	// Latencies are sorted.
	Latencies []time.Duration
}

// Rate returns the number of replies per second.
func (r Result) Rate() float64 { return float64(len(r.Latencies)) / r.Elapsed.Seconds() }

// Quantile returns the q-quantile of the latencies, with q from 0 to 1.
func (r Result) Quantile(q float64) time.Duration {
	if len(r.Latencies) == 0 {
		return 0
	}
	return r.Latencies[min(len(r.Latencies)-1, int(q*float64(len(r.Latencies))))]
}

// Closed lets each connection send its next request as soon as it has the reply. A connection
// makes a first request, which sets it up and is not counted, and at least one that is.
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
	if _, err := each(opened, func(c Connection) ([]time.Duration, error) { return nil, c.Do(ctx) }); err != nil {
		return result, err
	}
	start := time.Now()
	result.Latencies, err = each(opened, func(c Connection) (latencies []time.Duration, _ error) {
		for began := start; ; {
			if err := c.Do(ctx); err != nil {
				return nil, err
			}
			now := time.Now()
			latencies = append(latencies, now.Sub(began))
			if began = now; now.Sub(start) >= duration {
				return latencies, nil
			}
		}
	})
	result.Elapsed = time.Since(start)
	slices.Sort(result.Latencies)
	return result, err
}

// each does some work with all connections concurrently, and returns its latencies in any order.
func each(opened []Connection, work func(Connection) ([]time.Duration, error)) (all []time.Duration, err error) {
	latencies, failed := make([][]time.Duration, len(opened)), make([]error, len(opened))
	var group sync.WaitGroup
	for i, connection := range opened {
		group.Go(func() { latencies[i], failed[i] = work(connection) })
	}
	group.Wait()
	return slices.Concat(latencies...), errors.Join(failed...)
}

// RPC calls one method with the standard gRPC client.
type RPC struct {
	// Channels are shared by the connections. A single channel writes with one goroutine,
	// which would limit the throughput.
	Channels []*grpc.ClientConn
	// Method is the full name, with the leading slash.
	Method  string
	Request proto.Message
	// Reply is an empty message of the reply's type.
	Reply proto.Message
}

// Open returns the n-th connection.
func (r RPC) Open(n int) (Connection, error) {
	return Func(func(ctx context.Context) error {
		_, err := r.Call(ctx, n)
		return err
	}), nil
}

// Call makes one call, on the n-th connection.
func (r RPC) Call(ctx context.Context, n int) (proto.Message, error) {
	reply := r.Reply.ProtoReflect().New().Interface()
	return reply, r.Channels[n%len(r.Channels)].Invoke(ctx, r.Method, r.Request, reply)
}
