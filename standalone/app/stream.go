package app

import (
	"context"

	"github.com/fullstorydev/grpchan/inprocgrpc"
	"go.opentelemetry.io/otel/trace"
	"google.golang.org/grpc"

	"github.com/waybook/waybook/internal/platform/requestid"
	"github.com/waybook/waybook/internal/platform/service"
)

func (c *Channel) stream(server any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	ctx, end := c.spans.StartCall(inherit(stream.Context()), info.FullMethod)
	err := c.interceptors.Stream(server, service.WithContext(ctx, stream), info, handler)
	end(err)
	return err
}

// inherit returns a stream's context with the request id and the span of its caller.
func inherit(ctx context.Context) context.Context {
	caller := inprocgrpc.ClientContext(ctx)
	if id := requestid.From(caller); id != "" {
		ctx = requestid.With(ctx, id)
	}
	return trace.ContextWithSpan(ctx, trace.SpanFromContext(caller))
}
