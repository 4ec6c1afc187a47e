package load

import (
	"context"
	"errors"
	"runtime"
	"time"
)

// AtRate generates an open loop: it makes requests at a fixed rate per second. Each request
// is due at a fixed time, and its latency counts from then. If the contender is slow and all
// connections are busy, the waiting time of unsent requests counts too, as for real users
// (no coordinated omission).
func AtRate(ctx context.Context, open Opener, connections int, rate float64, duration time.Duration) (result Result, err error) {
	opened, err := openAll(open, connections)
	if err != nil {
		return Result{}, err
	}
	defer func() { err = errors.Join(err, opened.close()) }()
	if _, err := opened.each(func(connection Connection) (Latencies, Latencies, error) {
		return nil, nil, connection.Do(ctx)
	}); err != nil {
		return Result{}, err
	}
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
