// Command blog runs the blog service by itself.
package main

import (
	"context"
	"flag"
	"fmt"
	"time"

	_ "time/tzdata" // the zone of -time-zone, on machines that have no zone files

	"github.com/waybook/waybook/internal/content"
	"github.com/waybook/waybook/internal/platform/service"
	"github.com/waybook/waybook/services/blog"
)

func main() {
	var config blog.Config
	var timeZone string
	content.Program{
		Name: "blog",
		GRPC: "127.0.0.1:9093",
		Flags: func(flags *flag.FlagSet) {
			flags.Int64Var(&config.Reward, "reward", blog.DefaultReward, "what an author gets for posting an entry, in the virtual currency")
			flags.StringVar(&timeZone, "time-zone", "Asia/Taipei", "`zone` of the day up to which entries are published")
		},
		New: func(ctx context.Context, deps content.Deps) (service.Service, error) {
			var err error
			if config.Zone, err = time.LoadLocation(timeZone); err != nil {
				return nil, fmt.Errorf("-time-zone: %w", err)
			}
			return blog.New(ctx, deps, config)
		},
	}.Main()
}
