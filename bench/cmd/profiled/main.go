// Command profiled is standalone that also writes a CPU profile.
package main

import (
	"context"
	"flag"

	_ "time/tzdata" // as in standalone

	"github.com/waybook/waybook/bench/internal/profiled"
	"github.com/waybook/waybook/internal/platform/process"
)

func main() {
	var config profiled.Config
	process.Main(process.Program{
		Name:    "profiled",
		Summary: "Runs standalone and writes a CPU profile.",
		Flags:   func(flags *flag.FlagSet) { config.Register(flags) },
		Start: func(ctx context.Context, env process.Env) error {
			return profiled.Start(ctx, config, env)
		},
	})
}
