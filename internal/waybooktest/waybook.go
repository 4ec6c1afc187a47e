// Package waybooktest runs a whole Waybook for tests: in the test's process, on a store of its own, or on an engine
// and by a clock that the test holds. Connect makes the same of programs that run elsewhere.
package waybooktest

import (
	"context"
	"errors"
	"flag"
	"io"
	"log/slog"
	"net/http"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/waybook/waybook/edge"
	"github.com/waybook/waybook/internal/clients"
	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/platform/process"
	"github.com/waybook/waybook/internal/platform/service"
	"github.com/waybook/waybook/internal/storetest"
	"github.com/waybook/waybook/standalone/app"
)

// Waybook is a running Waybook. It stops when its test ends.
type Waybook struct {
	// HTTP, GRPC and Admin are addresses, host:port.
	HTTP, GRPC, Admin string
	Connection        grpc.ClientConnInterface
	clients.Clients
	// Services, Edge and Clock are those of a Waybook that StartOn started.
	Services []service.Service
	Edge     http.Handler
	Clock    *storetest.Clock

	t     testing.TB
	stop  func()
	apart func(service.Service) *Waybook
}

// Option changes how a Waybook starts.
type Option func(*setup)

type setup struct {
	flags     []string
	isShipped bool
	config    []func(*app.Config)
	deps      []func(*service.Deps)
	env       process.Env
}

// Flags are flags of standalone. Without them a Waybook has no demo content, UTC, a store and ports of its own, and no
// limits of comments, writes and registrations, since tests write more than people do.
func Flags(flags ...string) Option {
	return func(s *setup) { s.flags = append(s.flags, flags...) }
}

// Shipped starts a Waybook with the defaults of standalone in all but its demo content, ports and store.
func Shipped(s *setup) { s.isShipped = true }

// Config changes settings, of which some have no flag.
func Config(change func(*app.Config)) Option {
	return func(s *setup) { s.config = append(s.config, change) }
}

// OnMongoDB stores in a MongoDB.
func OnMongoDB(uri string) Option { return Flags("-mongodb-uri", uri) }

// Log is the log of the programs.
func Log(log *slog.Logger) Option { return func(s *setup) { s.env.Log = log } }

// Secured gives the gRPC port a certificate. GRPC is its address; the clients of Waybook cannot use it.
func Secured(transport process.Transport) Option {
	return func(s *setup) { s.env.Transport = transport }
}

// Deps changes what the services of StartOn depend on.
func Deps(change func(*service.Deps)) Option {
	return func(s *setup) { s.deps = append(s.deps, change) }
}

func newSetup(t testing.TB, options []Option) *setup {
	s := &setup{env: process.Env{
		Stack: &process.Stack{}, Out: io.Discard, Log: slog.New(slog.DiscardHandler),
		Fail: func(err error) { t.Errorf("a part failed: %v", err) },
	}}
	for _, option := range options {
		option(s)
	}
	return s
}

// settings returns the settings of standalone.
func (s *setup) settings(data string) (config app.Config, err error) {
	flags := flag.NewFlagSet("waybook", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	config.Register(flags)
	args := []string{"-demo=false", "-http=127.0.0.1:0", "-grpc=127.0.0.1:0", "-admin=127.0.0.1:0", "-data", data}
	if !s.isShipped {
		args = append(args, "-time-zone=UTC", "-comments-per-minute=0", "-comments-per-user=0", "-user-writes=0",
			"-registrations-per-address=0", "-registrations-per-hour=0")
	}
	err = flags.Parse(append(args, s.flags...))
	for _, change := range s.config {
		change(&config)
	}
	return config, err
}

// stopper returns what stops the parts, once. It also runs when the test ends.
func (s *setup) stopper(t testing.TB) func() {
	stop := sync.OnceFunc(func() {
		if err := s.env.Stack.Stop(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(stop)
	return stop
}

// Start starts Waybook as standalone does.
func Start(t testing.TB, options ...Option) *Waybook {
	t.Helper()
	w, err := TryStart(t, options...)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// TryStart is Start for a Waybook that may refuse to start.
func TryStart(t testing.TB, options ...Option) (*Waybook, error) {
	t.Helper()
	s := newSetup(t, options)
	stop := s.stopper(t)
	config, err := s.settings(t.TempDir())
	if err != nil {
		return nil, err
	}
	started, err := app.Start(t.Context(), config, s.env)
	if err != nil {
		stop()
		return nil, err
	}
	w := Connect(t, started.GRPC.String())
	w.HTTP, w.Admin, w.stop = started.HTTP.String(), started.Admin.String(), stop
	return w, nil
}

// StartOn starts Waybook on an engine of the test, without sweeps. Its clock stands at noon of 2026-05-01 UTC; the
// identifiers are those of the machine's time.
func StartOn(t testing.TB, store docstore.Engine, options ...Option) *Waybook {
	t.Helper()
	s := newSetup(t, options)
	stop, clock := s.stopper(t), storetest.NewClock(time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC))
	config, err := s.settings(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	metrics := process.NewMetrics()
	host := service.Host{
		Env: s.env, Metrics: metrics, Readiness: process.NewReadiness(), Deps: service.NewDeps(store, s.env.Log),
		Interceptors: service.NewInterceptors(service.Load{}, nil, metrics, s.env.Log),
	}
	host.Deps.Now = clock.Now
	for _, change := range s.deps {
		change(&host.Deps)
	}
	parts, err := app.Assemble(t.Context(), config, host)
	if err != nil {
		t.Fatal(err)
	}
	serve := func(interceptors *service.Interceptors, services ...service.Service) *Waybook {
		t.Helper()
		listener, err := process.Listen(t.Context(), "grpc", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		service.Serve(s.env, "grpc port", listener, nil, interceptors, service.Copied{Source: source(store), Backups: host.Deps.Backups}, services...)
		return Connect(t, listener.Addr().String())
	}
	w := serve(host.Interceptors, parts.Services...)
	w.Services, w.Edge, w.Clock, w.stop = parts.Services, parts.Edge, clock, stop
	w.apart = func(one service.Service) *Waybook {
		return serve(service.NewInterceptors(service.Load{}, nil, process.NewMetrics(), s.env.Log), one)
	}
	return w
}

// Apart serves one of the services of StartOn alone, as a program of its own does.
func (w *Waybook) Apart(one service.Service) *Waybook {
	w.t.Helper()
	return w.apart(one)
}

// EdgeWith returns another edge of the services, by changed settings.
func (w *Waybook) EdgeWith(change func(*edge.Config)) http.Handler {
	config := edge.Config{Clients: w.Clients, Zone: time.UTC}
	change(&config)
	return edge.New(config)
}

// source returns a store that can be copied as such.
func source(store docstore.Engine) service.Source {
	copied, _ := store.(service.Source)
	return copied
}

// Connect returns a Waybook whose services have one address.
func Connect(t testing.TB, address string) *Waybook {
	t.Helper()
	connection, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := connection.Close(); err != nil {
			t.Error(err)
		}
	})
	w := Over(t, connection)
	w.GRPC = address
	return w
}

// Over returns a Waybook whose services are called over a connection.
func Over(t testing.TB, connection grpc.ClientConnInterface) *Waybook {
	return &Waybook{
		Connection: connection,
		Clients:    clients.Of(connection, connection, connection, connection),
		t:          t, stop: func() {},
	}
}

// Stop stops Waybook before its test ends.
func (w *Waybook) Stop() { w.stop() }

// Sweep runs the sweep of each service once. The test fails if one does.
func (w *Waybook) Sweep() {
	w.t.Helper()
	if err := w.TrySweep(w.t.Context()); err != nil {
		w.t.Error(err)
	}
}

// TrySweep is Sweep for a store that may fail.
func (w *Waybook) TrySweep(ctx context.Context) (err error) {
	for _, each := range w.Services {
		err = errors.Join(err, each.Sweep(ctx))
	}
	return err
}
