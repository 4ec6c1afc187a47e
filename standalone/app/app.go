// Package app runs all of Waybook in one process.
package app

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/waybook/waybook/edge/program"
	"github.com/waybook/waybook/internal/clients"
	"github.com/waybook/waybook/internal/content"
	"github.com/waybook/waybook/internal/platform/process"
	"github.com/waybook/waybook/internal/platform/service"
	"github.com/waybook/waybook/internal/upload"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	"github.com/waybook/waybook/services/account"
	"github.com/waybook/waybook/services/album"
	"github.com/waybook/waybook/services/blog"
	"github.com/waybook/waybook/services/poi"
	"github.com/waybook/waybook/standalone/demo"
)

// App is a running Waybook.
type App struct {
	// HTTP, GRPC and Admin are the addresses on which it listens.
	HTTP, GRPC, Admin net.Addr

	clients  clients.Clients
	dataDir  string
	hasDemo  bool
	hasLogin bool
	// hasConsole reports that the edge's address has a page for people.
	hasConsole bool
}

// Start starts Waybook and pushes its parts on env's stack.
func Start(ctx context.Context, config Config, env process.Env) (*App, error) {
	if config.Store.MongoDBURI == "" {
		fmt.Fprintf(env.Out, "Opening the store %s.\n", config.Store.File())
	} else {
		fmt.Fprintln(env.Out, "Connecting to MongoDB.")
	}
	host, err := config.Flags.Start(ctx, env, config.Admin)
	if err != nil {
		return nil, err
	}
	parts, err := Assemble(ctx, config, host)
	if err != nil {
		return nil, err
	}
	grpcPort, err := env.Transport.ListenGRPC(ctx, "grpc", config.grpcAddress())
	if err != nil {
		return nil, err
	}
	if env.Transport.Identity == nil && grpcPort.Addr().Network() != "unix" {
		env.Log.WarnContext(ctx, "the gRPC port has no TLS, so every local user can act as any user of Waybook; "+
			"leave out -grpc to use a Unix socket, or set -tls-cert", "grpc", grpcPort.Addr().String())
	}
	host.Serve(ctx, grpcPort, parts.Services...)
	httpPort, err := process.Listen(ctx, "http", config.HTTP)
	if err != nil {
		return nil, err
	}
	program.Serve(env, host.Metrics, httpPort, parts.Edge, config.Interface.Connections())
	host.Ready()
	return &App{
		HTTP: httpPort.Addr(), GRPC: grpcPort.Addr(), Admin: host.AdminAddress,
		clients:    clients.Of(parts.Channel, parts.Channel, parts.Channel, parts.Channel),
		dataDir:    config.Store.Data,
		hasDemo:    config.HasDemo,
		hasLogin:   config.Interface.HasLogin && config.Interface.HasAdditions,
		hasConsole: config.Console.IsOn,
	}, nil
}

// Assembly is all of Waybook on one store, without ports and sweeps.
type Assembly struct {
	// Channel carries calls to the services.
	Channel  *Channel
	Services []service.Service
	// Edge serves /API.php, and the page for people if it is on.
	Edge http.Handler
}

// Assemble makes the services and the edge in front of them, and the demo content. It pushes what
// they start on the stack of the host.
func Assemble(ctx context.Context, config Config, host service.Host) (*Assembly, error) {
	zone, err := process.Zone(config.TimeZone)
	if err != nil {
		return nil, err
	}
	parts := &Assembly{Channel: NewChannel(host.Interceptors, host.Env.Tracing)}
	accounts, err := parts.addServices(ctx, config, host, zone)
	if err != nil {
		return nil, err
	}
	if config.HasDemo {
		host.Readiness.Starting("looking for demo content")
		if err := demo.Fill(ctx, clients.Of(parts.Channel, parts.Channel, parts.Channel, parts.Channel),
			accounts.HasUsers, config.Store.Data, host.Out); err != nil {
			return nil, fmt.Errorf("demo content: %w", err)
		}
	}
	config.Front.Page = config.Console.Page()
	config.Interface.MaxPhotoBytes = config.Uploads.MaxBytes
	edgeConfig := config.Interface.Config()
	program.CallWithin(&edgeConfig, parts.Channel)
	edgeConfig.Zone = zone
	reports := program.Reports{Metrics: host.Metrics, Readiness: host.Readiness}
	parts.Edge, err = program.NewHandler(host.Env, reports, config.Front, edgeConfig)
	return parts, err
}

// addServices creates the four services.
func (a *Assembly) addServices(ctx context.Context, config Config, host service.Host,
	zone *time.Location) (account.Service, error) {
	config.Uploads.Folder = host.UploadFolder
	host.Deps.Uploads = upload.New(config.Uploads, host.Metrics)
	accounts, err := account.New(ctx, host.Deps, config.Account)
	if err != nil {
		return nil, err
	}
	deps := content.NewDeps(host, accountv1.NewAccountServiceClient(a.Channel))
	deps.Comments, deps.PublicURL = config.Comments, config.publicURL()
	albums, err := album.New(ctx, deps)
	if err != nil {
		return nil, err
	}
	blogs, err := blog.New(ctx, deps, blog.Config{Reward: config.Reward, Zone: zone})
	if err != nil {
		return nil, err
	}
	pois, err := poi.New(ctx, deps)
	if err != nil {
		return nil, err
	}
	a.Services = []service.Service{accounts, albums, blogs, pois}
	service.Register(a.Channel, a.Services...)
	return accounts, a.Channel.ServeStreams(host.Env)
}
