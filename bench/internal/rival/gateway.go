package rival

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

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
		register(mux, to.album, albumv1.File_waybook_album_v1_album_proto),
		register(mux, to.blog, blogv1.File_waybook_blog_v1_blog_proto),
		register(mux, to.poi, poiv1.File_waybook_poi_v1_poi_proto),
	)
}

// register serves the RPCs of a contract, by POST to their full names.
func register(mux *runtime.ServeMux, channel grpc.ClientConnInterface, contract protoreflect.FileDescriptor) error {
	service := contract.Services().Get(0)
	for i := range service.Methods().Len() {
		method := service.Methods().Get(i)
		if method.IsStreamingClient() {
			continue
		}
		input, err := messageType(string(method.Input().FullName()))
		if err != nil {
			return err
		}
		output, err := messageType(string(method.Output().FullName()))
		if err != nil {
			return err
		}
		path := fmt.Sprintf("/%s/%s", service.FullName(), method.Name())
		if err := mux.HandlePath(http.MethodPost, path, forward(mux, channel, path, method.IsStreamingServer(), input, output)); err != nil {
			return err
		}
	}
	return nil
}

// forward returns a handler with the steps of one that protoc-gen-grpc-gateway generates.
func forward(
	mux *runtime.ServeMux, channel grpc.ClientConnInterface, path string, streams bool, input, output protoreflect.MessageType,
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
		var next func() (proto.Message, error)
		reply := output.New().Interface()
		if streams {
			next, sent.HeaderMD, err = openStream(ctx, channel, path, request, output)
		} else {
			err = channel.Invoke(ctx, path, request, reply, grpc.Header(&sent.HeaderMD), grpc.Trailer(&sent.TrailerMD))
		}
		ctx = runtime.NewServerMetadataContext(ctx, sent)
		switch {
		case err != nil:
			runtime.HTTPError(ctx, mux, encoding, w, r, err)
		case streams:
			runtime.ForwardResponseStream(ctx, mux, encoding, w, r, next, mux.GetForwardResponseOptions()...)
		default:
			runtime.ForwardResponseMessage(ctx, mux, encoding, w, r, reply, mux.GetForwardResponseOptions()...)
		}
	}
}

// openStream calls an RPC that replies with a stream. next returns its messages one by one.
func openStream(
	ctx context.Context, channel grpc.ClientConnInterface, path string, request proto.Message, output protoreflect.MessageType,
) (next func() (proto.Message, error), header metadata.MD, err error) {
	stream, err := channel.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true}, path)
	if err != nil {
		return nil, nil, err
	}
	if err := errors.Join(stream.SendMsg(request), stream.CloseSend()); err != nil {
		return nil, nil, err
	}
	header, err = stream.Header()
	return func() (proto.Message, error) {
		reply := output.New().Interface()
		return reply, stream.RecvMsg(reply)
	}, header, err
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
