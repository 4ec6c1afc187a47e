// Command baseline serves fixed replies, so that bench can compare Waybook with them.
package main

import (
	"context"
	"flag"

	"github.com/waybook/waybook/bench/internal/baseline"
	"github.com/waybook/waybook/internal/platform/process"
)

func main() {
	var config baseline.Config
	process.Main(process.Program{
		Name:    "baseline",
		Summary: "Serves fixed replies over net/http and gRPC, as a baseline for bench.",
		Flags:   func(flags *flag.FlagSet) { config.Register(flags) },
		Start: func(ctx context.Context, env process.Env) error {
			return baseline.Start(ctx, config, env)
		},
	})
}
