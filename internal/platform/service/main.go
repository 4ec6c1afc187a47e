// Package service holds the parts that Waybook's services share on top of package process:
// the store, the interceptors, the gRPC port, and the main function of a service.
package service

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"path/filepath"
	"time"

	"github.com/waybook/waybook/internal/blob"
	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/id"
	"github.com/waybook/waybook/internal/platform/access"
	"github.com/waybook/waybook/internal/platform/audit"
	"github.com/waybook/waybook/internal/platform/process"
	"github.com/waybook/waybook/internal/platform/smallids"
	"github.com/waybook/waybook/internal/upload"
)

// Deps are the dependencies of every service. They may be used concurrently.
type Deps struct {
	Store docstore.Engine
	// Files opens the store of files with a name, beside the documents; nil if there is none.
	Files func(ctx context.Context, name string) (blob.Store, error)
	// Backups are the backups of the documents.
	Backups *blob.Backups
	// Uploads receives photos; nil if there are no uploads.
	Uploads *upload.Receiver
	// NewIDs returns a source of identifiers for one collection. Now returns the time in UTC, in
	// whole milliseconds, as stored times have it.
	NewIDs func() *id.Source
	Now    func() time.Time
	Log    *slog.Logger
	// Changes holds the settings of the feeds of changes.
	Changes Changes
	// Small is the setting of small identifiers.
	Small *smallids.Setting
}

// NewDeps returns the dependencies of services that use this store.
func NewDeps(store docstore.Engine, log *slog.Logger) Deps {
	deps := Deps{Store: store, Now: now, Log: log, Backups: &blob.Backups{}}
	deps.NewIDs = func() *id.Source {
		if store != nil && store.IsLocal() {
			return id.NewSoleSource(time.Now)
		}
		return id.NewSource(time.Now)
	}
	return deps
}

func now() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }

// Flags are the settings of every program that runs services.
type Flags struct {
	Store StoreFlags
	// Clients are further clients of the gRPC port when it uses TLS.
	Clients access.Clients
	// Load holds the concurrency limits of each service.
	Load Load
	// Changes holds the settings of the feeds of changes.
	Changes Changes
	// HasAuditLog logs each event that matters to security.
	HasAuditLog bool
}

// Register declares the flags, with their defaults. data is the default directory of the store.
func (f *Flags) Register(flags *flag.FlagSet, data string) {
	f.Store.Register(flags, data)
	f.Clients.Register(flags)
	f.Load.Register(flags)
	f.Changes.Register(flags)
	audit.Register(flags, &f.HasAuditLog)
}

func (f *Flags) Check(checks *process.Checks) {
	checks.Report(f.Store.Check())
	checks.Report(f.Changes.Check())
}

// Host is the program that services run in: its environment, its metrics, and the dependencies of
// its services.
type Host struct {
	process.Env
	Metrics      *process.Metrics
	Readiness    *process.Readiness
	Interceptors *Interceptors
	// AdminAddress is the address of the admin port.
	AdminAddress net.Addr
	Deps         Deps
	// UploadFolder is where temporary files of uploads are: beside an embedded store, or "" for
	// that of the system.
	UploadFolder string

	store  *Store
	policy *access.Policy
}

// Start opens the admin port and the store. The port listens before the store opens, because a
// store may take an hour to open.
func (f *Flags) Start(ctx context.Context, env process.Env, admin string) (Host, error) {
	rules, err := access.Contracts()
	if err != nil {
		return Host{}, err
	}
	h := Host{Env: env, Metrics: process.NewMetrics(), Readiness: process.NewReadiness(),
		policy: access.NewPolicy(rules, f.Clients)}
	if h.AdminAddress, err = env.Admin(ctx, admin, h.Readiness, h.Metrics); err != nil {
		return Host{}, err
	}
	if h.store, err = OpenStore(ctx, env, f.Store, h.Metrics, h.Readiness); err != nil {
		return Host{}, err
	}
	if f.Store.MongoDBURI == "" {
		h.UploadFolder = filepath.Join(f.Store.Data, uploadsDirectory)
		if err := upload.Clear(h.UploadFolder); err != nil {
			return Host{}, err
		}
	}
	h.Deps = NewDeps(h.store.Engine, env.Log)
	h.Deps.Files = h.store.Files
	h.Deps.Changes, h.Deps.Small = f.Changes, newSmall(f.Store, h.Metrics)
	h.Metrics.GaugeFunc("waybook_changes_kept_seconds", "Time for which feeds of changes show deletions, in seconds.",
		nil, func() float64 { return f.Changes.KeptTime().Seconds() })
	events := audit.New(rules, f.HasAuditLog, env.Log, h.Metrics.Registry)
	h.Interceptors = NewInterceptors(f.Load, events, h.Metrics, env.Log)
	return h, nil
}

// Serve serves services and starts their sweeps.
func (h Host) Serve(ctx context.Context, listener net.Listener, services ...Service) {
	sweeps := NewSweeps(h.Metrics)
	for _, each := range services {
		Sweep(ctx, h.Env, sweeps, each)
	}
	if h.Deps.Small.IsOn() {
		Sweep(ctx, h.Env, sweeps, h.Deps.Small)
	}
	Serve(h.Env, "grpc port", listener, h.policy, h.Interceptors,
		Copied{h.store.Source, h.store.opened, h.Deps.Backups}, services...)
}

// Ready marks the program as ready while its store answers.
func (h Host) Ready() { h.Env.Ready(h.Readiness, h.store.Ping) }

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

// Process returns the program that Main runs. Its gRPC port listens after the store is open.
func (m Program) Process() process.Program {
	var grpcAddress, adminAddress string
	var set Flags
	return process.Program{
		Name:    m.Name,
		Summary: "the " + m.Name + " service of Waybook, over gRPC.",
		Flags: func(flags *flag.FlagSet) {
			flags.StringVar(&grpcAddress, "grpc", m.GRPC,
				"`address` of the gRPC port, or unix:PATH for a socket that only this user can use")
			flags.StringVar(&adminAddress, "admin", "127.0.0.1:0", "`address` of health and metrics")
			set.Register(flags, "waybook-data/"+m.Name)
			if m.Flags != nil {
				m.Flags(flags)
			}
		},
		Check: func(checks *process.Checks) {
			checks.ListenGRPC("grpc", grpcAddress)
			checks.Listen("admin", adminAddress)
			set.Check(checks)
			if m.Check != nil {
				m.Check(checks)
			}
		},
		Start: func(ctx context.Context, env process.Env) error {
			host, err := set.Start(ctx, env, adminAddress)
			if err != nil {
				return err
			}
			service, err := m.New(ctx, host)
			if err != nil {
				return err
			}
			listener, err := env.Transport.ListenGRPC(ctx, "grpc", grpcAddress)
			if err != nil {
				return err
			}
			host.Serve(ctx, listener, service)
			host.Ready()
			fmt.Fprintf(env.Out, "waybook %s\n  grpc   %s\n  admin  http://%s\n", m.Name,
				process.Target(listener.Addr()), host.AdminAddress)
			return nil
		},
	}
}

// DefaultKept is the default of -changes-kept.
const DefaultKept = 7 * 24 * time.Hour

// leastKept is longer than any call may run.
const leastKept = time.Hour

// Changes holds the settings of the lists of changes. The zero value means the defaults.
type Changes struct {
	// Kept is how long a deletion is shown; 0 means DefaultKept.
	Kept time.Duration
	// Settling is how long a change is listed again; 0 means docstore.DefaultSettling.
	Settling time.Duration
}

func (c *Changes) Register(flags *flag.FlagSet) {
	flags.DurationVar(&c.Kept, "changes-kept", DefaultKept,
		"how long deletions are listed to followers of changes, at least 1h; a follower that was away for "+
			"longer starts anew")
}

func (c Changes) Check() error {
	if c.KeptTime() < leastKept {
		return fmt.Errorf("-changes-kept is %v; it must be at least %v", c.Kept, leastKept)
	}
	return nil
}

// KeptTime returns how long a deletion is shown.
func (c Changes) KeptTime() time.Duration { return cmp.Or(c.Kept, DefaultKept) }
