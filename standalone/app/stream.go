package app

import (
	"context"
	"io"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// streaming is a streaming method of a registered service.
type streaming struct {
	server      any
	description grpc.StreamDesc
}

// NewStream calls a streaming method, whose handler runs in a goroutine of its own. It ignores the options, which are for
// a transport.
func (c *Channel) NewStream(
	ctx context.Context, _ *grpc.StreamDesc, name string, _ ...grpc.CallOption,
) (grpc.ClientStream, error) {
	called, ok := c.streams[name]
	if !ok {
		return nil, status.Errorf(codes.Unimplemented, "there is no stream %s", name)
	}
	handling, cancel := context.WithCancel(withoutMetadata(ctx))
	handling, end := c.spans.StartCall(handling, name)
	p := &pipe{
		ctx: ctx, handling: handling, isUnaryReply: !called.description.ServerStreams,
		requests: make(chan any), replies: make(chan any), sent: make(chan struct{}), done: make(chan struct{}),
	}
	info := &grpc.StreamServerInfo{
		FullMethod: name, IsClientStream: called.description.ClientStreams, IsServerStream: called.description.ServerStreams,
	}
	c.running.Go(func() {
		defer cancel()
		defer close(p.done)
		p.err = c.interceptors.Stream(called.server, &serverSide{p}, info, called.description.Handler)
		end(p.err)
	})
	return &clientSide{pipe: p}, nil
}

// Wait waits until the handlers of all streams have ended.
func (c *Channel) Wait(ctx context.Context) error {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		c.running.Wait()
	}()
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// pipe is a stream in process. Each message is with one side at a time.
type pipe struct {
	// ctx is that of the caller, and handling that of the handler.
	ctx, handling     context.Context
	requests, replies chan any
	// sent is closed after the last request, and done after the handler has ended with err.
	sent, done   chan struct{}
	err          error
	isUnaryReply bool
}

// clientSide is the stream as the caller has it.
type clientSide struct {
	*pipe
	close sync.Once
}

func (c *clientSide) Header() (metadata.MD, error) { return nil, nil }
func (c *clientSide) Trailer() metadata.MD         { return nil }
func (c *clientSide) Context() context.Context     { return c.ctx }

func (c *clientSide) CloseSend() error {
	c.close.Do(func() { close(c.sent) })
	return nil
}

// SendMsg gives a request to the handler, or returns io.EOF if that has ended.
func (c *clientSide) SendMsg(request any) error {
	select {
	case c.requests <- request:
		return nil
	case <-c.done:
		return io.EOF
	case <-c.ctx.Done():
		return status.FromContextError(c.ctx.Err()).Err()
	}
}

// RecvMsg takes a reply of the handler, or returns its error, or io.EOF.
func (c *clientSide) RecvMsg(into any) error {
	select {
	case reply := <-c.replies:
		if err := hand(into, reply); err != nil || !c.isUnaryReply {
			return err
		}
		<-c.done
		return c.err
	case <-c.done:
		if c.err != nil {
			return c.err
		}
		return io.EOF
	case <-c.ctx.Done():
		return status.FromContextError(c.ctx.Err()).Err()
	}
}

// serverSide is the stream as the handler has it.
type serverSide struct{ *pipe }

func (s *serverSide) SetHeader(metadata.MD) error  { return nil }
func (s *serverSide) SendHeader(metadata.MD) error { return nil }
func (s *serverSide) SetTrailer(metadata.MD)       {}
func (s *serverSide) Context() context.Context     { return s.handling }

// RecvMsg takes a request of the caller.
func (s *serverSide) RecvMsg(into any) error {
	select {
	case request := <-s.requests:
		return hand(into, request)
	case <-s.sent:
		return io.EOF
	case <-s.handling.Done():
		return s.handling.Err()
	}
}

// SendMsg gives a reply to the caller.
func (s *serverSide) SendMsg(reply any) error {
	select {
	case s.replies <- reply:
		return nil
	case <-s.handling.Done():
		return s.handling.Err()
	}
}
