// Command rival serves what bench compares Waybook with.
package main

import (
	"context"
	"flag"

	"github.com/waybook/waybook/bench/internal/rival"
	"github.com/waybook/waybook/internal/platform/process"
)

func main() {
	var config rival.Config
	process.Main(process.Program{
		Name:    "rival",
		Summary: "Serves grpc-gateway in front of Waybook's services, or recorded replies, for bench.",
		Flags:   func(flags *flag.FlagSet) { config.Register(flags) },
		Start: func(ctx context.Context, env process.Env) error {
			return rival.Start(ctx, config, env)
		},
	})
}
