// Package app runs all of Waybook in one process.
package app

import (
	"context"
	"fmt"
	"net"
	"time"

	"github.com/waybook/waybook/edge/program"
	"github.com/waybook/waybook/internal/content"
	"github.com/waybook/waybook/internal/platform/process"
	"github.com/waybook/waybook/internal/platform/service"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
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

	clients  demo.Clients
	dataDir  string
	hasDemo  bool
	hasLogin bool
	// hasConsole reports that the edge's address has a page for people.
	hasConsole bool
}

// Start starts Waybook and pushes its parts on env's stack.
func Start(ctx context.Context, config Config, env process.Env) (*App, error) {
	zone, err := process.Zone(config.TimeZone)
	if err != nil {
		return nil, err
	}
	host, err := config.Flags.Start(ctx, env, config.Admin)
	if err != nil {
		return nil, err
	}
	channel := NewChannel(host.Interceptors, env.Tracing)
	accountClient := accountv1.NewAccountServiceClient(channel)
	accounts, services, err := newServices(ctx, config, host, accountClient, zone)
	if err != nil {
		return nil, err
	}
	for _, each := range services {
		each.Register(channel)
	}
	app := &App{
		clients: demo.Clients{
			Account: accountClient,
			Album:   albumv1.NewAlbumServiceClient(channel),
			Blog:    blogv1.NewBlogServiceClient(channel),
			Poi:     poiv1.NewPoiServiceClient(channel),
		},
		dataDir:    config.Store.Data,
		hasDemo:    config.HasDemo,
		hasLogin:   config.Interface.HasLogin && config.Interface.HasAdditions,
		hasConsole: config.Console.IsOn && !config.Front.Shadow.IsPrimary(),
	}
	if config.HasDemo {
		host.Readiness.Starting("looking for demo content")
		if err := demo.Fill(ctx, app.clients, accounts.HasUsers, config.Store.Data); err != nil {
			return nil, fmt.Errorf("demo content: %w", err)
		}
	}
	config.Front.Page = config.Console.Page()
	edgeConfig := config.Interface.Config()
	program.CallWithin(&edgeConfig, channel)
	edgeConfig.Zone, edgeConfig.Validator = zone, host.Deps.Validator
	handler, err := program.NewHandler(ctx, env, program.Reports{Metrics: host.Metrics, Readiness: host.Readiness}, config.Front, edgeConfig)
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
	host.Serve(ctx, grpcPort, services...)
	httpPort, err := process.Listen(ctx, "http", config.HTTP)
	if err != nil {
		return nil, err
	}
	program.Serve(env, host.Metrics, httpPort, handler, config.Interface.Connections())
	host.Ready()
	app.HTTP, app.GRPC, app.Admin = httpPort.Addr(), grpcPort.Addr(), host.AdminAddress
	return app, nil
}

// newServices creates the four services on one store.
func newServices(
	ctx context.Context, config Config, host service.Host, accountClient accountv1.AccountServiceClient, zone *time.Location,
) (account.Service, []service.Service, error) {
	accounts, err := account.New(ctx, host.Deps, config.Account)
	if err != nil {
		return nil, nil, err
	}
	deps := content.NewDeps(host, accountClient)
	deps.Comments = config.Comments
	albums, err := album.New(ctx, deps)
	if err != nil {
		return nil, nil, err
	}
	blogs, err := blog.New(ctx, deps, blog.Config{Reward: config.Reward, Zone: zone})
	if err != nil {
		return nil, nil, err
	}
	pois, err := poi.New(ctx, deps)
	if err != nil {
		return nil, nil, err
	}
	return accounts, []service.Service{accounts, albums, blogs, pois}, nil
}
