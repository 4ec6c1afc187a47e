package edge

import (
	"context"
	"io"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
)

// call is one method of a service as its generated client has it.
type call[Request, Response any] func(context.Context, Request, ...grpc.CallOption) (Response, error)

// pageSize is how many photos or comments are asked for at once after the first
// ones; the contracts allow no more.
const pageSize = 1000

// unary runs an operation of one call and a short reply.
func unary[Request proto.Message, Response any](
	build func(*input) Request,
	call call[Request, Response],
	write func(reply, Response),
) run {
	return paged(build, call, func(x *exchange, response Response) error {
		write(x.out, response)
		return nil
	})
}

// paged runs an operation whose reply may need further calls, which write makes.
func paged[Request proto.Message, Response any](
	build func(*input) Request,
	call call[Request, Response],
	write func(*exchange, Response) error,
) run {
	return func(x *exchange) error {
		request := build(&x.in)
		if err := x.in.complaint(x.handler.config.Validator, request); err != nil {
			return err
		}
		ctx, cancel := x.callContext()
		response, err := call(ctx, request)
		cancel()
		if err != nil {
			return err
		}
		writeSuccess(x.out)
		if err := write(x, response); err != nil {
			return err
		}
		x.out.finish()
		return nil
	}
}

// writeNothing is for replies of nothing but their status.
func writeNothing[Response any](reply, Response) {}

// stream runs an operation that answers with a list of any length, of which it
// holds one batch at a time.
func stream[Request listRequest, Batch, Item any](
	build func(*input) Request,
	call call[Request, grpc.ServerStreamingClient[Batch]],
	itemsOf func(*Batch) []Item,
	list list[Item],
	idOf func(Item) int64,
) run {
	return func(x *exchange) error {
		request := build(&x.in)
		if err := x.in.complaint(x.handler.config.Validator, request); err != nil {
			return err
		}
		ctx, cancel := context.WithCancelCause(x.request.Context())
		defer cancel(nil)
		// The wait for a batch is bounded, the whole is not: it may be long.
		timeout := x.handler.config.CallTimeout
		alarm := time.AfterFunc(timeout, func() { cancel(context.DeadlineExceeded) })
		defer alarm.Stop()

		batches, err := call(ctx, request)
		if err != nil {
			return causeOr(ctx, err)
		}
		var batch *Batch
		receive := func() {
			alarm.Reset(timeout)
			batch, err = batches.Recv()
			alarm.Stop()
		}
		receive()
		if err != nil && err != io.EOF {
			return causeOr(ctx, err)
		}
		writeSuccess(x.out)
		x.out.beginList(list.name)
		part := newPart(request, idOf)
		for position := 0; err != io.EOF; x.response.await(receive) {
			if err != nil {
				return causeOr(ctx, err)
			}
			if position, err = list.write(x, part.take(itemsOf(batch)), position); err != nil {
				return err
			}
			if part.hasMore {
				break
			}
		}
		x.out.endList(list.name)
		part.writeNext(x.out)
		x.out.finish()
		return nil
	}
}

// causeOr returns why a context was cancelled from here, else what was returned.
func causeOr(ctx context.Context, err error) error {
	if context.Cause(ctx) == context.DeadlineExceeded {
		return context.DeadlineExceeded
	}
	return err
}

// list is how a list of a reply is written.
type list[Item any] struct {
	// name is that of the list, item that of its items before their position.
	name, item string
	writeItem  func(reply, Item)
}

// write writes the items that follow position, and returns the new position.
func (l list[Item]) write(x *exchange, items []Item, position int) (int, error) {
	for _, item := range items {
		position++
		x.out.beginItem(l.item, position)
		l.writeItem(x.out, item)
		x.out.endItem(l.item, position)
		if err := x.response.itemDone(); err != nil {
			return position, err
		}
	}
	return position, x.response.batchDone()
}

// writePages writes an optional list that starts with the given items and goes
// on with the pages that next returns, as long as there is a token.
func (l list[Item]) writePages(
	x *exchange,
	items []Item,
	token string,
	next func(ctx context.Context, token string) ([]Item, string, error),
) error {
	if len(items) == 0 && token == "" {
		return nil
	}
	x.out.beginList(l.name)
	position, err := l.write(x, items, 0)
	for err == nil && token != "" {
		x.response.await(func() {
			ctx, cancel := x.callContext()
			defer cancel()
			items, token, err = next(ctx, token)
		})
		if err == nil {
			position, err = l.write(x, items, position)
		}
	}
	x.out.endList(l.name)
	return err
}
