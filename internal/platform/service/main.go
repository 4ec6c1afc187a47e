// Package service is what Waybook's services share on top of serve: the store, the
// interceptors, the gRPC port, and the whole main function of a service.
package service

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"time"

	"buf.build/go/protovalidate"

	"github.com/waybook/waybook/internal/content/profiles"
	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/id"
	"github.com/waybook/waybook/internal/platform/mtls"
	"github.com/waybook/waybook/internal/platform/serve"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
)

// sweepEvery is how often a service sweeps.
const sweepEvery = time.Minute

// Deps is what every service is built on. It may be used concurrently.
type Deps struct {
	Store docstore.Engine
	// Account calls the account service and People resolves user ids through it; both
	// are nil for the account service itself.
	Account  accountv1.AccountServiceClient
	Profiles *profiles.Directory
	// NewID draws identifiers and Now tells the time, in whole milliseconds of UTC,
	// which is what a stored time keeps.
	NewID func() int64
	Now   func() time.Time
	// Validator checks what no interceptor does: the items of a message that are
	// refused one by one.
	Validator protovalidate.Validator
	Log       *slog.Logger
}

// NewDeps returns what services are built on.
func NewDeps(store docstore.Engine, validator protovalidate.Validator, log *slog.Logger) Deps {
	return Deps{Store: store, Validator: validator, NewID: id.NewSource(time.Now).Next, Now: now, Log: log}
}

func now() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }

// Program runs one service as a process of its own.
type Program struct {
	// Name is the service's name and GRPC its default address.
	Name, GRPC string
	// NeedsAccount says that the service calls the account service.
	NeedsAccount bool
	// Clients may call the service besides DefaultClients, by default.
	Clients mtls.Clients
	// Flags declares flags of the service's own; nil when it has none.
	Flags func(*flag.FlagSet)
	// New builds the service.
	New func(context.Context, Deps) (Service, error)
}

// Main runs the service until SIGINT or SIGTERM.
func (m Program) Main() {
	var grpcAddress, adminAddress, accountAddress string
	var store StoreFlags
	var load Load
	clients := append(DefaultClients(), m.Clients...)
	serve.Main(serve.Program{
		Name:    m.Name,
		Summary: "the " + m.Name + " service of Waybook, over gRPC.",
		Flags: func(flags *flag.FlagSet) {
			flags.StringVar(&grpcAddress, "grpc", m.GRPC, "`address` of the gRPC port")
			flags.StringVar(&adminAddress, "admin", "127.0.0.1:0", "`address` of health and metrics")
			store.Register(flags, "waybook-data/"+m.Name)
			RegisterClients(flags, &clients)
			load.Register(flags)
			if m.NeedsAccount {
				flags.StringVar(&accountAddress, "account", "127.0.0.1:9091", "`address` of the account service")
			}
			if m.Flags != nil {
				m.Flags(flags)
			}
		},
		Start: func(ctx context.Context, env serve.Env) error {
			validator, err := protovalidate.New()
			if err != nil {
				return fmt.Errorf("validator: %w", err)
			}
			metrics := serve.NewMetrics()
			engine, err := OpenStore(ctx, env, store, metrics)
			if err != nil {
				return err
			}
			deps := NewDeps(engine, validator, env.Log)
			if m.NeedsAccount {
				connection, err := env.Dial("account", accountAddress)
				if err != nil {
					return err
				}
				deps.Account = accountv1.NewAccountServiceClient(connection)
				if deps.Profiles, err = profiles.NewDirectory(deps.Account, env.Log); err != nil {
					return err
				}
				env.Stack.Push("names", deps.Profiles.Close)
				CountNames(metrics, deps.Profiles)
			}
			service, err := m.New(ctx, deps)
			if err != nil {
				return err
			}
			interceptors := NewInterceptors(validator, load, metrics, env.Log)
			return m.serve(ctx, env, metrics, deps, service, clients, interceptors, grpcAddress, adminAddress)
		},
	})
}

// DefaultClients are the names of those who may call every service.
func DefaultClients() mtls.Clients { return mtls.Clients{"edge", "operator"} }

// RegisterClients declares the flag that lists who may call a gRPC port.
func RegisterClients(flags *flag.FlagSet, clients *mtls.Clients) {
	flags.Var(clients, "clients", "with TLS, who may call: `names` of certificates, with commas between them")
}

func (m Program) serve(
	ctx context.Context, env serve.Env, metrics *serve.Metrics, deps Deps, service Service, clients mtls.Clients,
	interceptors *Interceptors, grpcAddress, adminAddress string,
) error {
	readiness := serve.NewReadiness(deps.Store.Ping)
	admin, err := env.Admin(ctx, adminAddress, readiness, metrics)
	if err != nil {
		return err
	}
	listener, err := env.Transport.ListenGRPC(ctx, "grpc", grpcAddress)
	if err != nil {
		return err
	}
	Sweep(ctx, env, NewSweeps(metrics), m.Name, service)
	Serve(env, "grpc port", listener, clients, interceptors, service)
	env.Ready(readiness)
	fmt.Fprintf(env.Out, "waybook %s\n  grpc   %s\n  admin  http://%s\n", m.Name, listener.Addr(), admin)
	return nil
}

// Sweep lets a service sweep now and from time to time.
func Sweep(ctx context.Context, env serve.Env, sweeps *Sweeps, name string, service Service) {
	env.Stack.Go(ctx, "sweeper of "+name, func(ctx context.Context) {
		ticker := time.NewTicker(sweepEvery)
		defer ticker.Stop()
		for {
			if err := service.Sweep(ctx); ctx.Err() == nil {
				sweeps.observe(name, err, time.Now())
				if err != nil {
					env.Log.ErrorContext(ctx, "sweep failed", "service", name, "error", err)
				}
			}
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
		}
	})
}
