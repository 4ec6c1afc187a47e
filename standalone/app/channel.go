package app

import (
	"context"
	"errors"
	"net"
	"slices"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"

	"github.com/waybook/waybook/internal/arena"
	"github.com/waybook/waybook/internal/platform/process"
	"github.com/waybook/waybook/internal/platform/requestid"
	"github.com/waybook/waybook/internal/platform/service"
	"github.com/waybook/waybook/internal/platform/tracing"
)

// Channel carries calls to the services in process. They pass the same interceptors as calls from
// outside (rule 15.4). The messages of unary calls are not copied: neither side changes a message
// that it has sent or received. Streams pass a connection in memory. It may be used concurrently
// after the services are registered.
type Channel struct {
	methods      map[string]method
	interceptors *service.Interceptors
	spans        tracing.Tracing

	server  *grpc.Server
	streams *grpc.ClientConn
}

// bufferBytes is how much of a stream may wait in memory.
const bufferBytes = 256 << 10

// method is a unary method of a registered service.
type method struct {
	server  any
	handler grpc.MethodHandler
}

// NewChannel returns a channel without services.
func NewChannel(interceptors *service.Interceptors, spans tracing.Tracing) *Channel {
	options := append(spans.ServerOptions(), grpc.ChainStreamInterceptor(interceptors.Stream),
		grpc.WaitForHandlers(true))
	return &Channel{methods: map[string]method{}, interceptors: interceptors, spans: spans,
		server: grpc.NewServer(options...)}
}

// RegisterService adds a service's methods.
func (c *Channel) RegisterService(description *grpc.ServiceDesc, server any) {
	for _, each := range description.Methods {
		c.methods["/"+description.ServiceName+"/"+each.MethodName] = method{server, each.Handler}
	}
	c.server.RegisterService(description, server)
}

// ServeStreams serves the streams of the registered services, and pushes its end.
func (c *Channel) ServeStreams(env process.Env) (err error) {
	listener := bufconn.Listen(bufferBytes)
	c.streams, err = grpc.NewClient("passthrough:in-process",
		append(slices.Concat(c.spans.DialOptions(), requestid.DialOptions()),
			grpc.WithTransportCredentials(insecure.NewCredentials()),
			grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) {
				return listener.DialContext(ctx)
			}))...)
	if err != nil {
		return err
	}
	done := make(chan error, 1)
	go func() { done <- c.server.Serve(listener) }()
	env.Stack.Push("streams in process", func(context.Context) error {
		err := c.streams.Close()
		c.server.Stop()
		if ended := <-done; !errors.Is(ended, grpc.ErrServerStopped) { // before it began
			err = errors.Join(err, ended)
		}
		return err
	})
	return nil
}

func (c *Channel) NewStream(ctx context.Context, description *grpc.StreamDesc, name string,
	options ...grpc.CallOption) (grpc.ClientStream, error) {
	if c.streams == nil {
		return nil, status.Errorf(codes.Unimplemented, "%s: this channel has no streams", name)
	}
	return c.streams.NewStream(ctx, description, name, options...)
}

// Invoke calls a method in the caller's goroutine. It ignores the options, which are for a
// transport.
func (c *Channel) Invoke(ctx context.Context, name string, request, reply any, _ ...grpc.CallOption) error {
	called, ok := c.methods[name]
	if !ok {
		return status.Errorf(codes.Unimplemented, "there is no method %s", name)
	}
	ctx, end := c.spans.StartCall(arena.Take(withoutMetadata(ctx)), name)
	handed, err := called.handler(called.server, ctx, func(into any) error { return service.Hand(into, request) },
		c.interceptors.Unary)
	if err == nil {
		err = service.Hand(reply, handed)
	}
	end(err)
	return err
}

// withoutMetadata returns a context without the caller's metadata: as over TCP, outgoing calls of
// a handler do not inherit it.
func withoutMetadata(ctx context.Context) context.Context {
	if _, has := metadata.FromOutgoingContext(ctx); has {
		return metadata.NewOutgoingContext(ctx, nil)
	}
	return ctx
}
