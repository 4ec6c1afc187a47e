package app

import (
	"cmp"
	"context"
	"io"

	"github.com/fullstorydev/grpchan/inprocgrpc"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/waybook/waybook/edge/push"
	"github.com/waybook/waybook/internal/arena"
	"github.com/waybook/waybook/internal/platform/requestid"
	"github.com/waybook/waybook/internal/platform/service"
	"github.com/waybook/waybook/internal/platform/tracing"
)

// pushed is a method that replies with a stream.
type pushed struct {
	server  any
	handler grpc.StreamHandler
	info    grpc.StreamServerInfo
}

// NewStream opens a stream. If the caller has a receiver for its messages (package push), the method runs in the
// caller's goroutine when the caller first receives: a goroutine of its own would grow its stack anew for
// each list.
func (c *Channel) NewStream(ctx context.Context, description *grpc.StreamDesc, name string, options ...grpc.CallOption) (grpc.ClientStream, error) {
	called, ok := c.pushed[name]
	if to := push.In(options); ok && to != nil {
		return &pushing{channel: c, called: &called, ctx: ctx, to: to}, nil
	}
	return c.Channel.NewStream(ctx, description, name, options...)
}

// pushing is both ends of a stream whose messages go to a receiver.
type pushing struct {
	channel *Channel
	called  *pushed
	ctx     context.Context
	request any
	to      push.Receiver
	// isEnded says that the receiver has ended the stream.
	isEnded bool
}

func (p *pushing) Header() (metadata.MD, error) { return nil, nil }
func (p *pushing) Trailer() metadata.MD         { return nil }
func (p *pushing) CloseSend() error             { return nil }
func (p *pushing) Context() context.Context     { return p.ctx }

// SendMsg keeps the request.
func (p *pushing) SendMsg(request any) error {
	p.request = request
	return nil
}

// RecvMsg runs the method, and returns its error, or io.EOF, also if the receiver ended it.
func (p *pushing) RecvMsg(any) error {
	c, called := p.channel, p.called
	ctx, end := c.spans.StartCall(withoutMetadata(p.ctx), called.info.FullMethod)
	ctx, memory := arena.With(ctx)
	defer memory.Free()
	err := c.interceptors.Stream(called.server, serving{p, ctx}, &called.info, called.handler)
	end(err)
	if p.isEnded {
		return io.EOF
	}
	return cmp.Or(err, io.EOF)
}

// serving is the end of a stream that the method sees.
type serving struct {
	of  *pushing
	ctx context.Context
}

func (s serving) SetHeader(metadata.MD) error  { return nil }
func (s serving) SendHeader(metadata.MD) error { return nil }
func (s serving) SetTrailer(metadata.MD)       {}
func (s serving) Context() context.Context     { return s.ctx }
func (s serving) RecvMsg(into any) error       { return hand(into, s.of.request) }

func (s serving) SendMsg(message any) error {
	if s.of.isEnded = s.of.to(message) != nil; s.of.isEnded {
		return status.Error(codes.Canceled, "the client takes no more")
	}
	return nil
}

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
	return tracing.Carry(ctx, caller)
}
