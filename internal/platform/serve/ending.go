package serve

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/waybook/waybook/internal/pause"
)

// DrainTime is how long a program that ends lets the requests in flight finish. It is longer than
// the longest call of a program, so only a list that streams may be cut off.
const DrainTime = 15 * time.Second

// StopTimeout bounds the end of a program after its shutdown delay: DrainTime, and then the time
// to close the store and to send the last spans.
const StopTimeout = DrainTime + 5*time.Second

// maxShutdownDelay bounds the flag -shutdown-delay.
const maxShutdownDelay = 10 * time.Minute

// shutdownDelay is how long a program that has got a signal goes on serving. Meanwhile it is not
// ready, and its callers find the other replicas.
type shutdownDelay time.Duration

func (d *shutdownDelay) register(flags *flag.FlagSet, byDefault time.Duration) {
	*d = shutdownDelay(byDefault)
	flags.Var(d, "shutdown-delay",
		"`time` after SIGTERM during which the program serves on, not ready, so that callers find other replicas; at most 10m")
}

// String returns the flag's value.
func (d shutdownDelay) String() string { return time.Duration(d).String() }

// Set parses the flag's value.
func (d *shutdownDelay) Set(value string) error {
	parsed, err := time.ParseDuration(value)
	if err != nil {
		return err
	}
	if parsed < 0 || parsed > maxShutdownDelay {
		return fmt.Errorf("%v is not from 0s to %v", parsed, maxShutdownDelay)
	}
	*d = shutdownDelay(parsed)
	return nil
}

// serveOut serves on for the delay.
func (d shutdownDelay) serveOut(ctx context.Context, log *slog.Logger) {
	if d == 0 {
		return
	}
	log.LogAttrs(ctx, slog.LevelInfo, "stopping: serving on until callers have found other replicas",
		slog.String("shutdown_delay", d.String()))
	_ = pause.For(context.WithoutCancel(ctx), time.Duration(d)) // a context without an end
}

// closing announces with every reply, once isEnding is set, that the connection closes. So a client
// leaves after a reply, and none loses the request that it is sending on an idle connection.
func closing(isEnding *atomic.Bool, handler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if isEnding.Load() {
			w.Header().Set("Connection", "close")
		}
		handler.ServeHTTP(w, r)
	})
}
