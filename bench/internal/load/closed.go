package load

import (
	"context"
	"errors"
	"time"
)

// Closed generates a closed loop: each connection sends its next request as soon as it has
// the reply. It measures the maximum throughput for that number of clients. Its latencies
// do not apply to clients that do not wait for each other; see AtRate.
func Closed(ctx context.Context, open Opener, connections int, duration time.Duration) (result Result, err error) {
	opened, err := openAll(open, connections)
	if err != nil {
		return Result{}, err
	}
	defer func() { err = errors.Join(err, opened.close()) }()
	// The first request of each connection sets it up and is not counted.
	if _, err := opened.each(func(connection Connection) (Latencies, Latencies, error) {
		return nil, nil, connection.Do(ctx)
	}); err != nil {
		return Result{}, err
	}
	end := time.Now().Add(duration)
	return opened.each(func(connection Connection) (Latencies, Latencies, error) {
		var latencies Latencies
		for began := time.Now(); began.Before(end); {
			if err := connection.Do(ctx); err != nil {
				return nil, nil, err
			}
			now := time.Now()
			latencies = append(latencies, now.Sub(began))
			began = now
		}
		return latencies, nil, nil
	})
}
