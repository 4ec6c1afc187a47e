package gateway

import (
	"context"

	"github.com/waybook/waybook/bench/internal/inprocess"
	"github.com/waybook/waybook/internal/platform/process"
	"github.com/waybook/waybook/internal/platform/service"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
)

// dial connects to services in other processes, as the edge does.
func dial(_ context.Context, config Config, env process.Env, _ *process.Metrics) (c clients, err error) {
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

// inProcess runs the services in this process like standalone: on a store of its own.
func inProcess(ctx context.Context, config Config, env process.Env, metrics *process.Metrics) (clients, error) {
	engine, err := (&service.StoreFlags{Data: config.Data}).Open(ctx)
	if err != nil {
		return clients{}, err
	}
	env.Stack.Push("store", func(context.Context) error { return engine.Close() })
	channel, err := inprocess.Start(ctx, env, metrics, engine)
	if err != nil {
		return clients{}, err
	}
	return clients{albumv1.NewAlbumServiceClient(channel), blogv1.NewBlogServiceClient(channel), poiv1.NewPoiServiceClient(channel)}, nil
}
