package load

import (
	"context"
	"errors"
	"time"
)

// Closed makes requests for a while on a number of connections, on each the next as
// soon as the reply has come: the most that a contender can do for so many clients.
// Its latencies say nothing about a load that does not wait; see AtRate.
func Closed(ctx context.Context, open Opener, connections int, duration time.Duration) (result Result, err error) {
	opened, err := openAll(open, connections)
	if err != nil {
		return Result{}, err
	}
	defer func() { err = errors.Join(err, opened.close()) }()
	// The first request of each makes the connection and is not counted.
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
