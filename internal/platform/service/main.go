// Package service holds the parts that Waybook's services share on top of package process:
// the store, the interceptors, the gRPC port, and the main function of a service.
package service

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"time"

	"buf.build/go/protovalidate"

	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/id"
	"github.com/waybook/waybook/internal/platform/access"
	"github.com/waybook/waybook/internal/platform/audit"
	"github.com/waybook/waybook/internal/platform/process"
)

// Deps are the dependencies of every service. They may be used concurrently.
type Deps struct {
	Store docstore.Engine
	// NewIDs returns a source of identifiers for one collection. Now returns the time in UTC, in
	// whole milliseconds, as stored times have it.
	NewIDs func() *id.Source
	Now    func() time.Time
	// Validator validates the items of a message that are rejected one by one. The
	// interceptors validate everything else.
	Validator protovalidate.Validator
	Log       *slog.Logger
	// Changes holds the settings of the feeds of changes.
	Changes Changes
}

// NewDeps returns the dependencies of services that use this store.
func NewDeps(store docstore.Engine, validator protovalidate.Validator, log *slog.Logger) Deps {
	return Deps{Store: store, Validator: validator, NewIDs: newIDs, Now: now, Log: log}
}

func newIDs() *id.Source { return id.NewSource(time.Now) }

func now() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }

// Host is the program that a service runs in: its environment, its metrics, and the
// dependencies of its services.
type Host struct {
	process.Env
	Metrics *process.Metrics
	Deps    Deps
}

// Program runs one service in its own process.
type Program struct {
	// Name is the service's name. GRPC is its default address.
	Name, GRPC string
	// Flags declares the service's own flags; it may be nil.
	Flags func(*flag.FlagSet)
	// Check reports the faults of the service's own settings; it may be nil.
	Check func(*process.Checks)
	// New creates the service. It pushes the parts that it starts on the host's stack.
	New func(context.Context, Host) (Service, error)
}

// Main runs the service until SIGINT or SIGTERM.
func (m Program) Main() { process.Main(m.Process()) }

// Process returns the program that Main runs. Its admin port listens before the store
// opens, because a store may take an hour to open. Its gRPC port listens after that.
func (m Program) Process() process.Program {
	var grpcAddress, adminAddress string
	var store StoreFlags
	var load Load
	var changes Changes
	var clients access.Clients
	var hasAuditLog bool
	return process.Program{
		Name:    m.Name,
		Summary: "the " + m.Name + " service of Waybook, over gRPC.",
		Flags: func(flags *flag.FlagSet) {
			flags.StringVar(&grpcAddress, "grpc", m.GRPC, "`address` of the gRPC port, or unix:PATH for a socket that only this user can use")
			flags.StringVar(&adminAddress, "admin", "127.0.0.1:0", "`address` of health and metrics")
			store.Register(flags, "waybook-data/"+m.Name)
			clients.Register(flags)
			load.Register(flags)
			changes.Register(flags)
			audit.Register(flags, &hasAuditLog)
			if m.Flags != nil {
				m.Flags(flags)
			}
		},
		Check: func(checks *process.Checks) {
			checks.ListenGRPC("grpc", grpcAddress)
			checks.Listen("admin", adminAddress)
			checks.Report(store.Check())
			checks.Report(changes.Check())
			if m.Check != nil {
				m.Check(checks)
			}
		},
		Start: func(ctx context.Context, env process.Env) error {
			validator, err := protovalidate.New()
			if err != nil {
				return fmt.Errorf("validator: %w", err)
			}
			rules, err := access.Contracts()
			if err != nil {
				return err
			}
			metrics := process.NewMetrics()
			readiness := process.NewReadiness()
			admin, err := env.Admin(ctx, adminAddress, readiness, metrics)
			if err != nil {
				return err
			}
			opened, err := OpenStore(ctx, env, store, metrics, readiness)
			if err != nil {
				return err
			}
			host := Host{Env: env, Metrics: metrics, Deps: NewDeps(opened.Engine, validator, env.Log)}
			host.Deps.Changes = changes
			service, err := m.New(ctx, host)
			if err != nil {
				return err
			}
			listener, err := env.Transport.ListenGRPC(ctx, "grpc", grpcAddress)
			if err != nil {
				return err
			}
			sweeps := NewSweeps(metrics)
			Sweep(ctx, env, sweeps, service)
			Sweep(ctx, env, sweeps, Backfill(opened))
			events := audit.New(rules, hasAuditLog, env.Log, metrics.Registry)
			interceptors := NewInterceptors(validator, load, events, metrics, env.Log)
			Serve(env, "grpc port", listener, access.NewPolicy(rules, clients), interceptors, opened.Source, service)
			env.Ready(readiness, opened.Ping)
			fmt.Fprintf(env.Out, "waybook %s\n  grpc   %s\n  admin  http://%s\n", m.Name, process.Target(listener.Addr()), admin)
			return nil
		},
	}
}

// DefaultKept is the default of -changes-kept.
const DefaultKept = 7 * 24 * time.Hour

// leastKept is longer than any call may run.
const leastKept = time.Hour

// Changes holds the settings of the feeds of changes. The zero value means the defaults.
type Changes struct {
	// Kept is how long a deletion is shown; 0 means DefaultKept.
	Kept time.Duration
	// Settling is how long a change waits before it is shown; 0 means docstore.DefaultSettling.
	Settling time.Duration
}

// Register declares the flags, with their defaults.
func (c *Changes) Register(flags *flag.FlagSet) {
	flags.DurationVar(&c.Kept, "changes-kept", DefaultKept, "how long deletions are shown to followers of changes, at least 1h; a follower that was away for longer starts anew")
}

// Check reports a setting out of its range.
func (c Changes) Check() error {
	if c.KeptTime() < leastKept {
		return fmt.Errorf("-changes-kept is %v; it must be at least %v", c.Kept, leastKept)
	}
	return nil
}

// KeptTime returns how long a deletion is shown.
func (c Changes) KeptTime() time.Duration {
	if c.Kept == 0 {
		return DefaultKept
	}
	return c.Kept
}
