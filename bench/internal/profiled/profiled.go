// Package profiled is standalone that also writes a CPU profile, from when it is ready
// until it stops.
package profiled

import (
	"context"
	"flag"
	"os"
	"runtime/pprof"

	"github.com/waybook/waybook/internal/platform/serve"
	"github.com/waybook/waybook/standalone/app"
)

// Config is how it is run.
type Config struct {
	Standalone app.Config
	// Profile is the file to write.
	Profile string
}

// Register declares the flags, with their defaults.
func (c *Config) Register(flags *flag.FlagSet) {
	c.Standalone.Register(flags)
	flags.StringVar(&c.Profile, "cpu-profile", "cpu.pprof", "`file` to write the profile to")
}

// Start starts standalone and pushes its parts on env's stack, the profile first.
func Start(ctx context.Context, config Config, env serve.Env) error {
	file, err := os.Create(config.Profile)
	if err != nil {
		return err
	}
	env.Stack.Push("profile", func(context.Context) error {
		pprof.StopCPUProfile()
		return file.Close()
	})
	app, err := app.Start(ctx, config.Standalone, env)
	if err != nil {
		return err
	}
	if err := pprof.StartCPUProfile(file); err != nil {
		return err
	}
	return app.Greet(ctx, env.Out)
}
