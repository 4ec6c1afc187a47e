// Command gateway serves the services as JSON with grpc-gateway, so that bench can compare
// the edge with it.
package main

import (
	"context"
	"flag"

	"github.com/waybook/waybook/bench/internal/gateway"
	"github.com/waybook/waybook/internal/platform/process"
)

func main() {
	var config gateway.Config
	process.Main(process.Program{
		Name:    "gateway",
		Summary: "Serves grpc-gateway in front of Waybook's services, for bench.",
		Flags:   func(flags *flag.FlagSet) { config.Register(flags) },
		Start: func(ctx context.Context, env process.Env) error {
			return gateway.Start(ctx, config, env)
		},
	})
}
