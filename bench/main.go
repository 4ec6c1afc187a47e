// Command bench measures Waybook, grpc-gateway as the usual alternative, and baselines that
// do no work, side by side on one machine. docs/performance.md shows what comes out.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/waybook/waybook/bench/internal/run"
)

func main() {
	settings, err := parse(os.Args[1:], os.Stderr)
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(2)
	}
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	if err := run.Run(ctx, settings, os.Stdout, os.Stderr); err != nil {
		cancel()
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}
