package gateway

import (
	"context"
	"time"

	"buf.build/go/protovalidate"

	"github.com/waybook/waybook/internal/content"
	"github.com/waybook/waybook/internal/platform/serve"
	"github.com/waybook/waybook/internal/platform/service"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
	"github.com/waybook/waybook/services/account"
	"github.com/waybook/waybook/services/album"
	"github.com/waybook/waybook/services/blog"
	"github.com/waybook/waybook/services/poi"
	"github.com/waybook/waybook/standalone/app"
)

// dial connects to services in other processes, as the edge does.
func dial(_ context.Context, config Config, env serve.Env, _ *serve.Metrics) (c clients, err error) {
	albums, err := env.Dial("album", config.Album)
	if err != nil {
		return clients{}, err
	}
	blogs, err := env.Dial("blog", config.Blog)
	if err != nil {
		return clients{}, err
	}
	pois, err := env.Dial("poi", config.Poi)
	if err != nil {
		return clients{}, err
	}
	return clients{albumv1.NewAlbumServiceClient(albums), blogv1.NewBlogServiceClient(blogs), poiv1.NewPoiServiceClient(pois)}, nil
}

// inProcess runs the services in this process like standalone: over the same kind of channel, with the same interceptors.
func inProcess(ctx context.Context, config Config, env serve.Env, metrics *serve.Metrics) (clients, error) {
	validator, err := protovalidate.New()
	if err != nil {
		return clients{}, err
	}
	engine, err := (&service.StoreFlags{Data: config.Data}).Open(ctx)
	if err != nil {
		return clients{}, err
	}
	env.Stack.Push("store", func(context.Context) error { return engine.Close() })
	interceptors := service.NewInterceptors(validator, service.Load{}, nil, metrics, env.Log)
	channel := app.NewChannel(interceptors, env.Tracing)
	host := service.Host{Env: env, Metrics: metrics, Deps: service.NewDeps(engine, validator, env.Log)}
	accounts, err := account.New(ctx, host.Deps, account.Config{Sessions: account.SessionLife{Total: account.DefaultSessionTTL}})
	if err != nil {
		return clients{}, err
	}
	deps, err := content.NewDeps(host, accountv1.NewAccountServiceClient(channel))
	if err != nil {
		return clients{}, err
	}
	albums, err := album.New(ctx, deps)
	if err != nil {
		return clients{}, err
	}
	blogs, err := blog.New(ctx, deps, blog.Config{Reward: blog.DefaultReward, Zone: time.UTC})
	if err != nil {
		return clients{}, err
	}
	pois, err := poi.New(ctx, deps)
	if err != nil {
		return clients{}, err
	}
	for _, each := range []service.Service{accounts, albums, blogs, pois} {
		each.Register(channel)
	}
	return clients{albumv1.NewAlbumServiceClient(channel), blogv1.NewBlogServiceClient(channel), poiv1.NewPoiServiceClient(channel)}, nil
}
