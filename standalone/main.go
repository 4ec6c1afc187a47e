// Command standalone runs all of Waybook in one process: the four services, the edge, and
// the embedded store, or MongoDB if -mongodb-uri is set.
package main

import (
	"context"
	"flag"
	"os"
	"path/filepath"

	"github.com/waybook/waybook/internal/platform/process"
	"github.com/waybook/waybook/standalone/app"
)

func main() {
	var config app.Config
	process.Main(process.Program{
		Name:    "standalone",
		Called:  filepath.Base(os.Args[0]), // packages call it waybook
		Summary: "all of Waybook in one process, on the embedded store by default.",
		Flags:   func(flags *flag.FlagSet) { config.Register(flags) },
		Check:   func(checks *process.Checks) { config.Check(checks) },
		Start: func(ctx context.Context, env process.Env) error {
			app, err := app.Start(ctx, config, env)
			if err != nil {
				return err
			}
			return app.Greet(ctx, env.Out)
		},
	})
}
