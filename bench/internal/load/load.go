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
	"runtime"
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

// openAll opens connections and makes a request on each, which sets it up and is not counted.
func openAll(ctx context.Context, open Opener, count int) (opened pool, err error) {
	defer func() {
		if err != nil {
			err = errors.Join(err, opened.close())
		}
	}()
	for n := range count {
		connection, err := open(n)
		if err != nil {
			return opened, err
		}
		opened = append(opened, connection)
	}
	_, err = opened.each(func(connection Connection) (Latencies, Latencies, error) {
		return nil, nil, connection.Do(ctx)
	})
	return opened, err
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

// Closed generates a closed loop: each connection sends its next request as soon as it has
// the reply, and makes at least one. It measures the maximum throughput for that number of
// clients. Its latencies do not apply to clients that do not wait for each other; see AtRate.
func Closed(ctx context.Context, open Opener, connections int, duration time.Duration) (result Result, err error) {
	opened, err := openAll(ctx, open, connections)
	if err != nil {
		return Result{}, err
	}
	defer func() { err = errors.Join(err, opened.close()) }()
	end := time.Now().Add(duration)
	return opened.each(func(connection Connection) (Latencies, Latencies, error) {
		var latencies Latencies
		for began := time.Now(); ; {
			if err := connection.Do(ctx); err != nil {
				return nil, nil, err
			}
			now := time.Now()
			latencies = append(latencies, now.Sub(began))
			if began = now; !now.Before(end) {
				return latencies, nil, nil
			}
		}
	})
}

// AtRate generates an open loop: it makes requests at a fixed rate per second. Each request
// is due at a fixed time, and its latency counts from then. If the contender is slow and all
// connections are busy, the waiting time of unsent requests counts too, as for real users
// (no coordinated omission).
func AtRate(ctx context.Context, open Opener, connections int, rate float64, duration time.Duration) (result Result, err error) {
	opened, err := openAll(ctx, open, connections)
	if err != nil {
		return Result{}, err
	}
	defer func() { err = errors.Join(err, opened.close()) }()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	due := make(chan time.Time, int(rate*duration.Seconds())+1)
	go announce(ctx, due, rate, duration)
	return opened.each(func(connection Connection) (latencies, lateness Latencies, err error) {
		for at := range due {
			lateness = append(lateness, time.Since(at))
			if err := connection.Do(ctx); err != nil {
				cancel() // stops the other connections
				return nil, nil, err
			}
			latencies = append(latencies, time.Since(at))
		}
		return latencies, lateness, nil
	})
}

// announce sends the due time of each request when it is reached. It locks a thread and
// sleeps in the kernel, because Go's timers may be a millisecond late.
func announce(ctx context.Context, due chan<- time.Time, rate float64, duration time.Duration) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer close(due)
	start := time.Now()
	for n := 0; ctx.Err() == nil; n++ {
		after := time.Duration(float64(n) / rate * float64(time.Second))
		if after >= duration {
			return
		}
		at := start.Add(after)
		if wait := time.Until(at); wait > 0 {
			sleep(wait)
		}
		due <- at // the buffer has room for all requests
	}
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
	channel := r.Channels[n%len(r.Channels)]
	return Func(func(ctx context.Context) error {
		_, err := r.call(ctx, channel)
		return err
	}), nil
}

// Call makes one call.
func (r RPC) Call(ctx context.Context) (proto.Message, error) { return r.call(ctx, r.Channels[0]) }

func (r RPC) call(ctx context.Context, channel *grpc.ClientConn) (proto.Message, error) {
	reply := r.Reply.ProtoReflect().New().Interface()
	return reply, channel.Invoke(ctx, r.Method, r.Request, reply)
}
