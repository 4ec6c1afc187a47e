package operation

import (
	"context"

	"github.com/google/uuid"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/waybook/waybook/edge/reply"
	"github.com/waybook/waybook/internal/arena"
	"github.com/waybook/waybook/internal/platform/rules"
)

// call is one method of a generated client.
type call[Request, Response any] func(context.Context, Request, ...grpc.CallOption) (Response, error)

// pageSize is the number of photos or comments per further page, the most that the contracts
// allow.
const pageSize = 1000

// unary returns an operation with one call and a short reply.
func unary[Request proto.Message, Response any](
	c *Config,
	build func(*Input) Request,
	call call[Request, Response],
	write func(reply.Writer, Response),
) handler {
	return paged(c, build, call, func(_ context.Context, _ *Config, out *reply.Reply, response Response) error {
		write(out.Writer, response)
		return nil
	})
}

// paged returns an operation whose write function may call for further pages.
func paged[Request proto.Message, Response any](
	c *Config,
	build func(*Input) Request,
	call call[Request, Response],
	write func(context.Context, *Config, *reply.Reply, Response) error,
) handler {
	return handler{asMessage(build), func(ctx context.Context, x *Exchange) error {
		request, err := built(ctx, c, &x.In, build)
		if err != nil {
			return err
		}
		callCtx, end := c.callContext(ctx)
		defer end()
		callCtx, memory := arena.Lend(callCtx)
		defer memory.Free()
		response, err := call(callCtx, request)
		if err != nil {
			return err
		}
		reply.StartSuccess(x.Out.Writer)
		if err := write(ctx, c, &x.Out, response); err != nil {
			return err
		}
		x.Out.Finish()
		return nil
	}}
}

// writeNothing writes a reply that has only a status.
func writeNothing[Response any](reply.Writer, Response) {}

// asMessage erases the type of the request.
func asMessage[Request proto.Message](build func(*Input) Request) func(*Input) proto.Message {
	return func(in *Input) proto.Message { return build(in) }
}

// callContext bounds one call to a service.
func (c *Config) callContext(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, c.CallTimeout)
}

// complaint returns nil if every parameter could be read; the service then validates the
// request. Otherwise complaint validates the parameters that could be read with the rules of the
// service. One failure then names all violations.
func (in *Input) complaint(request proto.Message) error {
	if !in.Faulty() {
		return nil
	}
	for _, violation := range rules.Violations(request) {
		in.Refuse(violation.Field)
	}
	return in.Failure()
}

// newRequestID returns a random UUID (RFC 9562, version 4). A create carries one, so that a
// retry by the transport creates nothing twice.
func newRequestID() string { return uuid.NewString() }
