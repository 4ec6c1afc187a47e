// Command account runs the account service by itself.
package main

import (
	"context"
	"flag"

	"github.com/waybook/waybook/internal/platform/process"
	"github.com/waybook/waybook/internal/platform/service"
	"github.com/waybook/waybook/internal/upload"
	"github.com/waybook/waybook/services/account"
)

func main() {
	var config account.Config
	var uploads upload.Flags
	service.Program{
		Name: "account",
		GRPC: "127.0.0.1:9091",
		Flags: func(flags *flag.FlagSet) {
			config.Register(flags)
			uploads.Register(flags)
		},
		Check: func(checks *process.Checks) { checks.Report(uploads.Check()) },
		New: func(ctx context.Context, host service.Host) (service.Service, error) {
			host.Deps.Uploads = upload.New(uploads, host.Metrics)
			return account.New(ctx, host.Deps, config)
		},
	}.Main()
}
