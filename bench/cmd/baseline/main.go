// Command floor answers with what it is given, for bench to compare Waybook with.
package main

import (
	"context"
	"flag"

	"github.com/waybook/waybook/bench/internal/baseline"
	"github.com/waybook/waybook/internal/platform/serve"
)

func main() {
	var config baseline.Config
	serve.Main(serve.Program{
		Name:    "floor",
		Summary: "fixed answers over net/http and gRPC, to be measured.",
		Flags:   func(flags *flag.FlagSet) { config.Register(flags) },
		Start: func(ctx context.Context, env serve.Env) error {
			return baseline.Start(ctx, config, env)
		},
	})
}
