// Command blog runs the blog service by itself.
package main

import (
	"context"
	"flag"

	"github.com/waybook/waybook/internal/content"
	"github.com/waybook/waybook/internal/platform/process"
	"github.com/waybook/waybook/services/blog"
)

func main() {
	var config blog.Config
	var timeZone string
	content.Program{
		Name: "blog",
		GRPC: "127.0.0.1:9093",
		Flags: func(flags *flag.FlagSet) {
			flags.Int64Var(&config.Reward, "reward", blog.DefaultReward,
				"reward of an author for posting an entry, in the virtual currency")
			flags.StringVar(&timeZone, "time-zone", "Asia/Taipei",
				"time `zone` whose current day is the last day of published entries")
		},
		Check: func(checks *process.Checks) {
			_, err := process.Zone(timeZone)
			checks.Report(err)
			checks.Report(config.Check())
		},
		New: func(ctx context.Context, deps content.Deps) (content.Service, error) {
			var err error
			if config.Zone, err = process.Zone(timeZone); err != nil {
				return nil, err
			}
			return blog.New(ctx, deps, config)
		},
	}.Main()
}
