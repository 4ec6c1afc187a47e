package content

import (
	"context"
	"flag"

	"github.com/waybook/waybook/internal/platform/process"
	"github.com/waybook/waybook/internal/platform/service"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
)

// Program runs one service of content in its own process, which calls the account service
// in another.
type Program struct {
	// Name is the service's name. GRPC is its default address.
	Name, GRPC string
	// Flags declares the service's own flags; it may be nil.
	Flags func(*flag.FlagSet)
	// Check reports the faults of the service's own settings; it may be nil.
	Check func(*process.Checks)
	// New creates the service.
	New func(context.Context, Deps) (service.Service, error)
}

// Main runs the service until SIGINT or SIGTERM.
func (p Program) Main() {
	var account string
	service.Program{
		Name: p.Name,
		GRPC: p.GRPC,
		Flags: func(flags *flag.FlagSet) {
			flags.StringVar(&account, "account", "127.0.0.1:9091", "`address` of the account service")
			if p.Flags != nil {
				p.Flags(flags)
			}
		},
		Check: func(checks *process.Checks) {
			checks.Dial("account", account)
			if p.Check != nil {
				p.Check(checks)
			}
		},
		New: func(ctx context.Context, host service.Host) (service.Service, error) {
			connection, err := host.Dial("account", account)
			if err != nil {
				return nil, err
			}
			deps, err := NewDeps(host, accountv1.NewAccountServiceClient(connection))
			if err != nil {
				return nil, err
			}
			return p.New(ctx, deps)
		},
	}.Main()
}
