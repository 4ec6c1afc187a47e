// Package rival has what bench compares Waybook with. One is the usual alternative: grpc-gateway
// in front of the same services, with the default JSON marshaler and one handler instead of
// generated ones, which takes the same steps. The others are baselines: recorded replies over
// net/http and over gRPC, without the work to compute them. No program on these libraries can be
// faster.
package rival

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/waybook/waybook/internal/content"
	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/platform/connlimit"
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
	"github.com/waybook/waybook/standalone/app"
)

// newGateway returns the handler of the gateway, which serves the RPCs of services by POST to
// their full names. Like the edge, the gateway runs in one process with the services or in a
// process of its own, with the same connections.
func newGateway(ctx context.Context, config Config, env process.Env, metrics *process.Metrics) (http.Handler, error) {
	mux := runtime.NewServeMux()
	var within grpc.ClientConnInterface
	if config.Album == "" && config.Blog == "" && config.Poi == "" {
		engine, err := (&service.StoreFlags{Data: config.Data}).Open(ctx)
		if err != nil {
			return nil, err
		}
		env.Stack.Push("store", func(context.Context) error { return engine.Close() })
		if within, err = StartServices(ctx, env, metrics, engine); err != nil {
			return nil, err
		}
	}
	for _, to := range []struct {
		name, address string
		contract      protoreflect.FileDescriptor
	}{
		{"album", config.Album, albumv1.File_waybook_album_v1_album_proto},
		{"blog", config.Blog, blogv1.File_waybook_blog_v1_blog_proto},
		{"poi", config.Poi, poiv1.File_waybook_poi_v1_poi_proto},
	} {
		channel := within
		if channel == nil {
			var err error
			if channel, err = env.Dial(to.name, to.address); err != nil {
				return nil, err
			}
		}
		if err := register(mux, channel, to.contract.Services().Get(0)); err != nil {
			return nil, err
		}
	}
	return mux, nil
}

// register serves the RPCs of a service.
func register(mux *runtime.ServeMux, channel grpc.ClientConnInterface, service protoreflect.ServiceDescriptor) error {
	for i := range service.Methods().Len() {
		method := service.Methods().Get(i)
		input, err := protoregistry.GlobalTypes.FindMessageByName(method.Input().FullName())
		if err != nil {
			return err
		}
		output, err := protoregistry.GlobalTypes.FindMessageByName(method.Output().FullName())
		if err != nil {
			return err
		}
		path := fmt.Sprintf("/%s/%s", service.FullName(), method.Name())
		if err := mux.HandlePath(http.MethodPost, path, forward(mux, channel, path, input, output)); err != nil {
			return err
		}
	}
	return nil
}

// forward returns a handler with the steps of one that protoc-gen-grpc-gateway generates.
func forward(
	mux *runtime.ServeMux, channel grpc.ClientConnInterface, path string, input, output protoreflect.MessageType,
) runtime.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request, _ map[string]string) {
		ctx, cancel := context.WithCancel(r.Context())
		defer cancel()
		decoding, encoding := runtime.MarshalerForRequest(mux, r)
		ctx, err := runtime.AnnotateContext(ctx, mux, r, path, runtime.WithHTTPPathPattern(path))
		if err != nil {
			runtime.HTTPError(ctx, mux, encoding, w, r, err)
			return
		}
		request := input.New().Interface()
		if err := decoding.NewDecoder(r.Body).Decode(request); err != nil && !errors.Is(err, io.EOF) {
			runtime.HTTPError(ctx, mux, encoding, w, r, status.Error(codes.InvalidArgument, err.Error()))
			return
		}
		_, _ = io.Copy(io.Discard, r.Body) // the next request on the connection fails if this does
		var sent runtime.ServerMetadata
		reply := output.New().Interface()
		err = channel.Invoke(ctx, path, request, reply, grpc.Header(&sent.HeaderMD), grpc.Trailer(&sent.TrailerMD))
		ctx = runtime.NewServerMetadataContext(ctx, sent)
		if err != nil {
			runtime.HTTPError(ctx, mux, encoding, w, r, err)
			return
		}
		runtime.ForwardResponseMessage(ctx, mux, encoding, w, r, reply, mux.GetForwardResponseOptions()...)
	}
}

// Config is the configuration of the program. With Answers it serves the baselines, otherwise the
// gateway.
type Config struct {
	// Answers is the path of a JSON file with the replies of the baselines.
	Answers string
	// Album, Blog and Poi are the addresses of the services behind the gateway. If all are empty,
	// the services run in its process.
	Album, Blog, Poi string
	// Data is the directory of the store of services in the gateway's process.
	Data string
}

// Register declares the flags, with their defaults.
func (c *Config) Register(flags *flag.FlagSet) {
	flags.StringVar(&c.Answers, "answers", "",
		"JSON `file` with replies to serve over net/http and gRPC, instead of a gateway")
	flags.StringVar(&c.Album, "album", "",
		"`address` of the album service; if no service has an address, all run in this process")
	flags.StringVar(&c.Blog, "blog", "", "`address` of the blog service")
	flags.StringVar(&c.Poi, "poi", "", "`address` of the POI service")
	flags.StringVar(&c.Data, "data", "waybook-data", "`directory` of the embedded store of services in this process")
}

// anyPort is the address of all ports.
const anyPort = "127.0.0.1:0"

// Start starts the program. It pushes the shutdown of its parts on env.Stack.
func Start(ctx context.Context, config Config, env process.Env) error {
	metrics, readiness := process.NewMetrics(), process.NewReadiness()
	var handler http.Handler
	var err error
	if config.Answers != "" {
		handler, err = startBaselines(ctx, config.Answers, env)
	} else {
		handler, err = newGateway(ctx, config, env, metrics)
	}
	if err != nil {
		return err
	}
	admin, err := env.Admin(ctx, anyPort, readiness, metrics)
	if err != nil {
		return err
	}
	listener, err := process.Listen(ctx, "http", anyPort)
	if err != nil {
		return err
	}
	env.HTTP("rival", listener, handler, connlimit.New(connlimit.Limits{}))
	env.Ready(readiness, nil)
	fmt.Fprintf(env.Out, "rival\n  http   http://%s\n  admin  http://%s\n", listener.Addr(), admin)
	return nil
}

// StartServices starts Waybook's services over a store in this process, as standalone does: over
// the same kind of channel, with the same interceptors. It pushes their shutdown on env.Stack; the
// store stays open.
func StartServices(ctx context.Context, env process.Env, metrics *process.Metrics,
	store docstore.Engine) (*app.Channel, error) {
	channel := app.NewChannel(service.NewInterceptors(service.Load{}, nil, metrics, env.Log), env.Tracing)
	host := service.Host{Env: env, Metrics: metrics, Deps: service.NewDeps(store, env.Log)}
	accounts, err := account.New(ctx, host.Deps,
		account.Config{Sessions: account.SessionLife{Total: account.DefaultSessionTTL}})
	if err != nil {
		return nil, err
	}
	deps := content.NewDeps(host, accountv1.NewAccountServiceClient(channel))
	albums, err := album.New(ctx, deps)
	if err != nil {
		return nil, err
	}
	blogs, err := blog.New(ctx, deps, blog.Config{Reward: blog.DefaultReward, Zone: time.UTC})
	if err != nil {
		return nil, err
	}
	pois, err := poi.New(ctx, deps)
	if err != nil {
		return nil, err
	}
	service.Register(channel, accounts, albums, blogs, pois)
	return channel, nil
}
