// Command account runs the account service by itself.
package main

import (
	"context"
	"flag"
	"time"

	"github.com/waybook/waybook/internal/serve/service"
	"github.com/waybook/waybook/services/account"
)

func main() {
	var sessionTTL time.Duration
	service.Program{
		Name: "account",
		GRPC: "127.0.0.1:9091",
		Flags: func(flags *flag.FlagSet) {
			flags.DurationVar(&sessionTTL, "session-ttl", account.DefaultSessionTTL, "how long a session lasts")
		},
		New: func(ctx context.Context, deps service.Deps) (service.Service, error) {
			return account.New(ctx, deps, sessionTTL)
		},
	}.Main()
}
