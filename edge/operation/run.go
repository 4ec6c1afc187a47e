package operation

import (
	"context"
	"errors"
	"io"
	"time"

	"buf.build/go/protovalidate"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/waybook/waybook/edge/reply"
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
		request := built(ctx, c, &x.In, build)
		if err := x.In.complaint(c.Validator, request); err != nil {
			return err
		}
		callCtx, cancel := c.callContext(ctx)
		response, err := call(callCtx, request)
		cancel()
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

// stream returns an operation that replies with a list of any length. It holds one batch at a
// time.
func stream[Request listRequest, Batch, Item any](
	c *Config,
	build func(*Input) Request,
	call call[Request, grpc.ServerStreamingClient[Batch]],
	itemsOf func(*Batch) []Item,
	list reply.List[Item],
	idOf func(Item) (id int64, oldID string),
) handler {
	return handler{asMessage(build), func(ctx context.Context, x *Exchange) error {
		request := built(ctx, c, &x.In, build)
		if err := x.In.complaint(c.Validator, request); err != nil {
			return err
		}
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		// Only the wait for a batch has a time limit; the whole list may take long.
		alarm := time.AfterFunc(c.CallTimeout, func() { cancel(context.DeadlineExceeded) })
		defer alarm.Stop()

		batches, err := call(ctx, request)
		if err != nil {
			return causeOr(ctx, err)
		}
		var batch *Batch
		receive := func() {
			alarm.Reset(c.CallTimeout)
			batch, err = batches.Recv()
			alarm.Stop()
		}
		receive()
		if err != nil && err != io.EOF {
			return causeOr(ctx, err)
		}
		out := &x.Out
		reply.StartSuccess(out.Writer)
		out.BeginList(list.Name)
		part := newPart(request, idOf)
		for position := 0; err != io.EOF; {
			if err != nil {
				return causeOr(ctx, err)
			}
			if position, err = list.Write(out, part.take(itemsOf(batch)), position); err != nil {
				return err
			}
			if part.hasMore {
				break
			}
			out.Sink.Wait()
			receive()
			out.Sink.Resume()
		}
		out.EndList(list.Name)
		part.writeNext(out.Writer)
		out.Finish()
		return nil
	}}
}

// writePages writes an optional list: the given items, then the pages that next gets from a
// service.
func writePages[Item any](
	ctx context.Context, c *Config, out *reply.Reply, list reply.List[Item], items []Item, token string,
	next func(ctx context.Context, token string) (items []Item, nextToken string, err error),
) error {
	return list.WritePages(out, items, token, func(token string) ([]Item, string, error) {
		ctx, cancel := c.callContext(ctx)
		defer cancel()
		return next(ctx, token)
	})
}

// asMessage erases the type of the request.
func asMessage[Request proto.Message](build func(*Input) Request) func(*Input) proto.Message {
	return func(in *Input) proto.Message { return build(in) }
}

// callContext bounds one call to a service.
func (c *Config) callContext(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, c.CallTimeout)
}

// causeOr returns context.DeadlineExceeded if the wait for a batch timed out, and err otherwise.
func causeOr(ctx context.Context, err error) error {
	if context.Cause(ctx) == context.DeadlineExceeded {
		return context.DeadlineExceeded
	}
	return err
}

// complaint returns nil if every parameter could be read; the service then validates the
// request. Otherwise complaint validates the parameters that could be read with the rules of the
// service. One failure then names all violations.
func (in *Input) complaint(validator protovalidate.Validator, request proto.Message) error {
	if !in.Faulty() {
		return nil
	}
	var invalid *protovalidate.ValidationError
	if err := validator.Validate(request); errors.As(err, &invalid) {
		for _, violation := range invalid.Violations {
			in.Refuse(protovalidate.FieldPathString(violation.Proto.GetField()))
		}
	}
	return in.Failure()
}
