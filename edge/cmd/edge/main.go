// Command edge serves /API.php as its own process. The services run elsewhere.
package main

import (
	"context"
	"flag"
	"time"

	"github.com/waybook/waybook/console"
	"github.com/waybook/waybook/edge/program"
	"github.com/waybook/waybook/internal/platform/process"
)

func main() {
	var config program.Config
	var page console.Flags
	process.Main(process.Program{
		Name:    "edge",
		Summary: "the XML edge of Waybook: serves /API.php over the gRPC services.",
		// The proxies in front of an edge notice that it is no longer ready.
		ShutdownDelay: 5 * time.Second,
		Flags: func(flags *flag.FlagSet) {
			config.Register(flags)
			page.Register(flags, false)
		},
		Check: func(checks *process.Checks) { config.Check(checks) },
		Start: func(ctx context.Context, env process.Env) error {
			config.Front.Page = page.Page()
			return program.Start(ctx, config, env)
		},
	})
}
