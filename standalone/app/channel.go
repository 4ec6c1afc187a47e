package app

import (
	"context"
	"fmt"
	"reflect"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/waybook/waybook/internal/arena"
	"github.com/waybook/waybook/internal/platform/service"
	"github.com/waybook/waybook/internal/platform/tracing"
)

// Channel carries calls to the services in process. They pass the same
// interceptors as calls from outside (rule 15.4). Messages are not copied: neither side
// changes a message that it has sent or received. It may be used concurrently after the
// services are registered.
type Channel struct {
	methods      map[string]method
	streams      map[string]streaming
	interceptors *service.Interceptors
	spans        tracing.Tracing
	// running are the handlers of streams.
	running sync.WaitGroup
}

// method is a unary method of a registered service.
type method struct {
	server  any
	handler grpc.MethodHandler
}

// NewChannel returns a channel without services.
func NewChannel(interceptors *service.Interceptors, spans tracing.Tracing) *Channel {
	return &Channel{methods: map[string]method{}, streams: map[string]streaming{}, interceptors: interceptors, spans: spans}
}

// RegisterService adds a service's methods.
func (c *Channel) RegisterService(description *grpc.ServiceDesc, server any) {
	for _, each := range description.Methods {
		c.methods["/"+description.ServiceName+"/"+each.MethodName] = method{server, each.Handler}
	}
	for _, each := range description.Streams {
		c.streams["/"+description.ServiceName+"/"+each.StreamName] = streaming{server, each}
	}
}

// Invoke calls a method in the caller's goroutine. It ignores the options, which are for a transport.
func (c *Channel) Invoke(ctx context.Context, name string, request, reply any, _ ...grpc.CallOption) error {
	called, ok := c.methods[name]
	if !ok {
		return status.Errorf(codes.Unimplemented, "there is no method %s", name)
	}
	ctx, end := c.spans.StartCall(arena.Take(withoutMetadata(ctx)), name)
	handed, err := called.handler(called.server, ctx, func(into any) error { return hand(into, request) }, c.interceptors.Unary)
	if err == nil {
		err = hand(reply, handed)
	}
	end(err)
	return err
}

// withoutMetadata returns a context without the caller's metadata: as over TCP, outgoing calls of a handler
// do not inherit it.
func withoutMetadata(ctx context.Context) context.Context {
	if _, has := metadata.FromOutgoingContext(ctx); has {
		return metadata.NewOutgoingContext(ctx, nil)
	}
	return ctx
}

// hand makes a message equal to another of its type. The two share their parts.
func hand(into, from any) error {
	target, source := reflect.ValueOf(into).Elem(), reflect.ValueOf(from).Elem()
	if target.Type() != source.Type() {
		return fmt.Errorf("got a %T, want a %T", from, into)
	}
	target.Set(source)
	return nil
}
