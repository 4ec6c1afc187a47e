// Package assembly puts all of Waybook together in one process.
package assembly

import (
	"context"
	"fmt"
	"net"
	"time"

	"buf.build/go/protovalidate"
	"github.com/fullstorydev/grpchan/inprocgrpc"

	"github.com/waybook/waybook/edge"
	"github.com/waybook/waybook/internal/people"
	"github.com/waybook/waybook/internal/serve"
	"github.com/waybook/waybook/internal/serve/service"
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
	// HTTP, GRPC and Admin are the addresses that it listens on.
	HTTP, GRPC, Admin net.Addr

	clients demo.Clients
	dataDir string
	hasDemo bool
}

// Start starts Waybook and pushes its parts on env's stack.
func Start(ctx context.Context, config Config, env serve.Env) (*App, error) {
	zone, err := time.LoadLocation(config.TimeZone)
	if err != nil {
		return nil, fmt.Errorf("-time-zone: %w", err)
	}
	validator, err := protovalidate.New()
	if err != nil {
		return nil, fmt.Errorf("validator: %w", err)
	}
	engine, err := config.Store.Open(ctx)
	if err != nil {
		return nil, err
	}
	env.Stack.Push("store", func(context.Context) error { return engine.Close() })

	metrics := serve.NewMetrics()
	interceptors := service.NewInterceptors(validator, metrics, env.Log)
	// The edge calls the services in process, through the interceptors that calls
	// from outside pass too (DESIGN §6).
	channel := new(inprocgrpc.Channel).
		WithServerUnaryInterceptor(interceptors.Unary).
		WithServerStreamInterceptor(interceptors.Stream)
	accounts, services, err := newServices(ctx, config, env, service.NewDeps(engine, validator, env.Log), accountv1.NewAccountServiceClient(channel))
	if err != nil {
		return nil, err
	}
	for _, each := range services {
		each.Register(channel)
	}
	app := &App{
		clients: demo.Clients{
			Account: accountv1.NewAccountServiceClient(channel),
			Album:   albumv1.NewAlbumServiceClient(channel),
			Blog:    blogv1.NewBlogServiceClient(channel),
			Poi:     poiv1.NewPoiServiceClient(channel),
		},
		dataDir: config.Store.Data,
		hasDemo: config.HasDemo,
	}
	if config.HasDemo {
		if err := demo.Fill(ctx, app.clients, accounts.HasUsers, config.Store.Data); err != nil {
			return nil, fmt.Errorf("demo content: %w", err)
		}
	}
	readiness := serve.NewReadiness(engine.Ping)
	handler := edge.New(edge.Config{
		Account: app.clients.Account, Album: app.clients.Album, Blog: app.clients.Blog, Poi: app.clients.Poi,
		Zone: zone, Log: env.Log, Validator: validator, Observe: metrics.ObserveRequest,
	})
	admin, err := serve.Listen(ctx, "admin", config.Admin)
	if err != nil {
		return nil, err
	}
	env.HTTP("admin port", admin, serve.AdminHandler(readiness, metrics))
	for _, each := range services {
		service.Sweep(ctx, env, fmt.Sprintf("%T", each), each)
	}
	grpcPort, err := serve.Listen(ctx, "grpc", config.GRPC)
	if err != nil {
		return nil, err
	}
	service.Serve(env, "grpc port", grpcPort, interceptors, services...)
	httpPort, err := serve.Listen(ctx, "http", config.HTTP)
	if err != nil {
		return nil, err
	}
	env.HTTP("edge", httpPort, handler)
	env.Ready(readiness)
	app.HTTP, app.GRPC, app.Admin = httpPort.Addr(), grpcPort.Addr(), admin.Addr()
	return app, nil
}

// newServices builds the four services over one store.
func newServices(
	ctx context.Context, config Config, env serve.Env, deps service.Deps, client accountv1.AccountServiceClient,
) (*account.Server, []service.Service, error) {
	accounts, err := account.New(ctx, deps, config.SessionTTL)
	if err != nil {
		return nil, nil, err
	}
	if deps.People, err = people.NewDirectory(client, env.Log); err != nil {
		return nil, nil, err
	}
	env.Stack.Push("names", deps.People.Close)
	albums, err := album.New(ctx, deps)
	if err != nil {
		return nil, nil, err
	}
	blogs, err := blog.New(ctx, deps, config.Reward)
	if err != nil {
		return nil, nil, err
	}
	pois, err := poi.New(ctx, deps)
	if err != nil {
		return nil, nil, err
	}
	return accounts, []service.Service{accounts, albums, blogs, pois}, nil
}
