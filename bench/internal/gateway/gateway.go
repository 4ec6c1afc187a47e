// Package gateway is the alternative with which bench compares the edge: grpc-gateway in
// front of the same services. It is set up as in grpc-gateway's documentation, with the
// default JSON marshaler. Like the edge, it runs in one process with the services or in a
// process of its own, with the same connections. Package gen is generated.
package gateway

import (
	"context"
	"errors"
	"flag"
	"fmt"

	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"

	albumgw "github.com/waybook/waybook/bench/internal/gateway/gen/waybook/album/v1"
	blogw "github.com/waybook/waybook/bench/internal/gateway/gen/waybook/blog/v1"
	poigw "github.com/waybook/waybook/bench/internal/gateway/gen/waybook/poi/v1"
	"github.com/waybook/waybook/internal/platform/connlimit"
	"github.com/waybook/waybook/internal/platform/process"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
)

// Config is the configuration of the gateway.
type Config struct {
	// HTTP and Admin are the addresses of the JSON interface and of metrics.
	HTTP, Admin string
	// Album, Blog and Poi are the addresses of the services. If all are empty, the services
	// run in this process.
	Album, Blog, Poi string
	// Data is the directory of the store of services in this process.
	Data string
}

// Register declares the flags, with their defaults.
func (c *Config) Register(flags *flag.FlagSet) {
	flags.StringVar(&c.HTTP, "http", "127.0.0.1:0", "`address` of the JSON interface")
	flags.StringVar(&c.Admin, "admin", "127.0.0.1:0", "`address` of the metrics")
	flags.StringVar(&c.Album, "album", "", "`address` of the album service; if no service has an address, all run in this process")
	flags.StringVar(&c.Blog, "blog", "", "`address` of the blog service")
	flags.StringVar(&c.Poi, "poi", "", "`address` of the POI service")
	flags.StringVar(&c.Data, "data", "waybook-data", "`directory` of the embedded store of services in this process")
}

// clients are the clients of the services.
type clients struct {
	album albumv1.AlbumServiceClient
	blog  blogv1.BlogServiceClient
	poi   poiv1.PoiServiceClient
}

// Start starts the gateway. It pushes the shutdown of its parts on env.Stack.
func Start(ctx context.Context, config Config, env process.Env) error {
	metrics := process.NewMetrics()
	connect := dial
	if config.Album == "" && config.Blog == "" && config.Poi == "" {
		connect = inProcess
	}
	services, err := connect(ctx, config, env, metrics)
	if err != nil {
		return err
	}
	mux := runtime.NewServeMux()
	if err := errors.Join(
		albumgw.RegisterAlbumServiceHandlerClient(ctx, mux, services.album),
		blogw.RegisterBlogServiceHandlerClient(ctx, mux, services.blog),
		poigw.RegisterPoiServiceHandlerClient(ctx, mux, services.poi),
	); err != nil {
		return err
	}
	readiness := process.NewReadiness()
	admin, err := env.Admin(ctx, config.Admin, readiness, metrics)
	if err != nil {
		return err
	}
	listener, err := process.Listen(ctx, "http", config.HTTP)
	if err != nil {
		return err
	}
	env.HTTP("gateway", listener, mux, connlimit.New(connlimit.Limits{}))
	env.Ready(readiness, nil)
	fmt.Fprintf(env.Out, "gateway\n  http   http://%s\n  admin  http://%s\n", listener.Addr(), admin)
	return nil
}
