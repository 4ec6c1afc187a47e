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

	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/id"
	"github.com/waybook/waybook/internal/platform/mtls"
	"github.com/waybook/waybook/internal/platform/serve"
)

// sweepEvery is how often a service sweeps.
const sweepEvery = time.Minute

// Deps is what every service is built on. It may be used concurrently.
type Deps struct {
	Store docstore.Engine
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

// Host is the program that a service runs in: what the program was started with, its
// metrics, and what its services are built on.
type Host struct {
	serve.Env
	Metrics *serve.Metrics
	Deps    Deps
}

// Program runs one service as a process of its own.
type Program struct {
	// Name is the service's name and GRPC its default address.
	Name, GRPC string
	// Clients may call the service besides DefaultClients, by default.
	Clients mtls.Clients
	// Flags declares flags of the service's own; nil when it has none.
	Flags func(*flag.FlagSet)
	// New builds the service. It pushes what it starts on the host's stack.
	New func(context.Context, Host) (Service, error)
}

// Main runs the service until SIGINT or SIGTERM.
func (m Program) Main() {
	var grpcAddress, adminAddress string
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
			host := Host{Env: env, Metrics: metrics, Deps: NewDeps(engine, validator, env.Log)}
			service, err := m.New(ctx, host)
			if err != nil {
				return err
			}
			interceptors := NewInterceptors(validator, load, metrics, env.Log)
			return m.serve(ctx, host, service, clients, interceptors, grpcAddress, adminAddress)
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
	ctx context.Context, host Host, service Service, clients mtls.Clients,
	interceptors *Interceptors, grpcAddress, adminAddress string,
) error {
	readiness := serve.NewReadiness(host.Deps.Store.Ping)
	admin, err := host.Admin(ctx, adminAddress, readiness, host.Metrics)
	if err != nil {
		return err
	}
	listener, err := host.Transport.ListenGRPC(ctx, "grpc", grpcAddress)
	if err != nil {
		return err
	}
	Sweep(ctx, host.Env, NewSweeps(host.Metrics), service)
	Serve(host.Env, "grpc port", listener, clients, interceptors, service)
	host.Ready(readiness)
	fmt.Fprintf(host.Out, "waybook %s\n  grpc   %s\n  admin  http://%s\n", m.Name, listener.Addr(), admin)
	return nil
}

// Sweep lets a service sweep now and from time to time.
func Sweep(ctx context.Context, env serve.Env, sweeps *Sweeps, service Service) {
	name := service.Name()
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
