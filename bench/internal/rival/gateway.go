package rival

import (
	"context"
	"errors"
	"net/http"

	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"
	"google.golang.org/grpc"

	albumgw "github.com/waybook/waybook/bench/internal/rival/gen/waybook/album/v1"
	blogw "github.com/waybook/waybook/bench/internal/rival/gen/waybook/blog/v1"
	poigw "github.com/waybook/waybook/bench/internal/rival/gen/waybook/poi/v1"
	"github.com/waybook/waybook/internal/platform/process"
	"github.com/waybook/waybook/internal/platform/service"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
)

// channels are connections to the services.
type channels struct{ album, blog, poi grpc.ClientConnInterface }

// newGateway returns the handler of the gateway. Like the edge, the gateway runs in one process with the
// services or in a process of its own, with the same connections.
func newGateway(ctx context.Context, config Config, env process.Env, metrics *process.Metrics) (http.Handler, error) {
	var to channels
	var err error
	if config.Album == "" && config.Blog == "" && config.Poi == "" {
		to, err = inProcess(ctx, config.Data, env, metrics)
	} else {
		to, err = dial(config, env)
	}
	if err != nil {
		return nil, err
	}
	mux := runtime.NewServeMux()
	return mux, errors.Join(
		albumgw.RegisterAlbumServiceHandlerClient(ctx, mux, albumv1.NewAlbumServiceClient(to.album)),
		blogw.RegisterBlogServiceHandlerClient(ctx, mux, blogv1.NewBlogServiceClient(to.blog)),
		poigw.RegisterPoiServiceHandlerClient(ctx, mux, poiv1.NewPoiServiceClient(to.poi)),
	)
}

// dial connects to services in other processes, as the edge does.
func dial(config Config, env process.Env) (to channels, err error) {
	var failed [3]error
	to.album, failed[0] = env.Dial("album", config.Album)
	to.blog, failed[1] = env.Dial("blog", config.Blog)
	to.poi, failed[2] = env.Dial("poi", config.Poi)
	return to, errors.Join(failed[:]...)
}

// inProcess runs the services in this process, on a store of its own.
func inProcess(ctx context.Context, data string, env process.Env, metrics *process.Metrics) (channels, error) {
	engine, err := (&service.StoreFlags{Data: data}).Open(ctx)
	if err != nil {
		return channels{}, err
	}
	env.Stack.Push("store", func(context.Context) error { return engine.Close() })
	all, err := StartServices(ctx, env, metrics, engine)
	return channels{all, all, all}, err
}
