// Package profiled runs standalone and writes a CPU profile, from the time when standalone is
// ready until it stops.
package profiled

import (
	"context"
	"flag"
	"os"
	"runtime/pprof"

	"github.com/waybook/waybook/internal/platform/process"
	"github.com/waybook/waybook/standalone/app"
)

// Config is the configuration of the program.
type Config struct {
	Standalone app.Config
	// Profile is the path of the profile to write.
	Profile string
}

// Register declares the flags, with their defaults.
func (c *Config) Register(flags *flag.FlagSet) {
	c.Standalone.Register(flags)
	flags.StringVar(&c.Profile, "cpu-profile", "cpu.pprof", "`file` to which the profile is written")
}

// Start starts standalone. It pushes the end of the profile on env.Stack before the parts of
// standalone, so that the profile ends last.
func Start(ctx context.Context, config Config, env process.Env) error {
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
