// Command profiled is standalone that also writes a CPU profile.
package main

import (
	"context"
	"flag"

	_ "time/tzdata" // as in standalone

	"github.com/waybook/waybook/bench/internal/profiled"
	"github.com/waybook/waybook/internal/platform/serve"
)

func main() {
	var config profiled.Config
	serve.Main(serve.Program{
		Name:    "profiled",
		Summary: "Runs standalone and writes a CPU profile.",
		Flags:   func(flags *flag.FlagSet) { config.Register(flags) },
		Start: func(ctx context.Context, env serve.Env) error {
			return profiled.Start(ctx, config, env)
		},
	})
}
