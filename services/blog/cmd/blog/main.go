// Command blog runs the blog service by itself.
package main

import (
	"context"
	"flag"

	"github.com/waybook/waybook/internal/serve/service"
	"github.com/waybook/waybook/services/blog"
)

func main() {
	var reward int64
	service.Program{
		Name:         "blog",
		GRPC:         "127.0.0.1:9093",
		NeedsAccount: true,
		Flags: func(flags *flag.FlagSet) {
			flags.Int64Var(&reward, "reward", blog.DefaultReward, "what an author gets for posting an entry, in the virtual currency")
		},
		New: func(ctx context.Context, deps service.Deps) (service.Service, error) {
			return blog.New(ctx, deps, reward)
		},
	}.Main()
}
