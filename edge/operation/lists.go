package operation

import (
	"context"
	"errors"
	"io"
	"math"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/waybook/waybook/edge/form"
	"github.com/waybook/waybook/edge/push"
	"github.com/waybook/waybook/edge/reply"
)

// The parameters limit and after select a part of a list, an addition to the legacy contract
// (rules 9.2 and 9.4). Without them the reply has the whole list.
var (
	paramLimit = form.Parameter{Name: "limit", Hint: "1 to 1000000", Syntax: form.IntegerSyntax, Range: &form.Range{Min: 1, Max: 1_000_000}}
	paramAfter = form.Parameter{Name: "after", Hint: "0 to 9007199254740991", Syntax: form.IntegerSyntax}
	// paramNext is the parameter after of a list whose order is not that of identifiers (rule 17.6).
	paramNext = form.Parameter{Name: "after", Hint: "the next of the part before"}
)

// asLimit accepts about as many items as a client can hold. The edge itself streams a reply of any
// length.
func asLimit(s string) (int64, bool) {
	value, ok := form.ParseInteger(s)
	return value, ok && paramLimit.Range.Includes(value)
}

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

		out, limited, position := &x.Out, newLimited(request, idOf), 0
		hasBegun, isWaiting := false, false
		resume := func() {
			if alarm.Stop(); isWaiting {
				isWaiting = false
				out.Sink.Resume()
			}
		}
		begin := func() {
			if !hasBegun {
				hasBegun = true
				reply.StartSuccess(out.Writer)
				out.BeginList(list.Name)
			}
		}
		var failed error // of the reply, not of the service
		write := func(batch *Batch) error {
			resume()
			begin()
			if position, failed = list.Write(out, limited.take(itemsOf(batch)), position); failed != nil {
				return failed
			}
			if limited.hasMore {
				return errEnough
			}
			isWaiting = true
			out.Sink.Wait()
			alarm.Reset(c.CallTimeout)
			return nil
		}
		batches, err := call(ctx, request, push.To(func(message any) error { return write(message.(*Batch)) }))
		for err == nil {
			var batch *Batch
			if batch, err = batches.Recv(); err == nil {
				err = write(batch)
			}
		}
		resume()
		switch {
		case failed != nil:
			return failed
		case err != io.EOF && !limited.hasMore:
			return causeOr(ctx, err)
		}
		begin() // of an empty list
		out.EndList(list.Name)
		limited.writeNext(out.Writer)
		out.Finish()
		return nil
	}}
}

// errEnough ends a stream of which the client wanted only a part.
var errEnough = errors.New("enough")

// causeOr returns context.DeadlineExceeded if the wait for a batch timed out, and err otherwise.
func causeOr(ctx context.Context, err error) error {
	if context.Cause(ctx) == context.DeadlineExceeded {
		return context.DeadlineExceeded
	}
	return err
}

// askedLimit returns the number of items to ask the service for; 0 means all. It is one more
// than the client wants: the extra item shows that more follow.
func askedLimit(in *Input) int64 {
	limit := optional(in, &paramLimit, "limit", asLimit)
	if limit == nil {
		return 0
	}
	return *limit + 1
}

// listRequest is a request for a list, or for a part of it.
type listRequest interface {
	proto.Message
	GetLimit() int64
}

// limited passes the items of a list on, up to the limit of the client.
type limited[Item any] struct {
	isWhole bool  // no limit was given
	left    int64 // items still to pass on
	idOf    func(Item) (id int64, oldID string)
	lastID  int64
	lastOld string
	// hasMore says that another item follows the last one that the client wants.
	hasMore bool
}

func newLimited[Item any](request listRequest, idOf func(Item) (id int64, oldID string)) limited[Item] {
	asked := request.GetLimit()
	return limited[Item]{isWhole: asked == 0, left: asked - 1, idOf: idOf}
}

// take returns the items of a batch to write.
func (l *limited[Item]) take(items []Item) []Item {
	if l.isWhole {
		return items
	}
	if l.hasMore = int64(len(items)) > l.left; l.hasMore {
		items = items[:l.left]
	}
	if n := len(items); n > 0 {
		l.left -= int64(n)
		l.lastID, l.lastOld = l.idOf(items[n-1])
		l.lastOld = strings.Clone(l.lastOld) // the batch goes before writeNext
	}
	return items
}

// writeNext writes the `after` of the next request, if more items follow. An old identifier that reads as
// a number is not one: the next request would mean a new identifier by it.
func (l *limited[Item]) writeNext(out reply.Writer) {
	if !l.hasMore {
		return
	}
	if _, isNumber := form.ID(l.lastOld); isNumber {
		l.lastOld = ""
	}
	out.ID("next", l.lastID, l.lastOld)
}

// pageResponse is a page of a list.
type pageResponse interface{ GetNextPageToken() string }

// turnTo selects a page in a request for a list.
func turnTo(request proto.Message, size int32, token string) {
	message := request.ProtoReflect()
	fields := message.Descriptor().Fields()
	message.Set(fields.ByName("page_size"), protoreflect.ValueOfInt32(size))
	message.Set(fields.ByName("page_token"), protoreflect.ValueOfString(token))
}

// pagedList returns an operation that replies with a list from pages of a service, or with a part
// of it. It holds one page at a time. The parameter after is the page token of the service.
func pagedList[Request proto.Message, Response pageResponse, Item any](
	c *Config,
	build func(*Input) Request,
	call call[Request, Response],
	itemsOf func(Response) []Item,
	list reply.List[Item],
) handler {
	// read returns the request without its page, the number of items and the first page token.
	read := func(in *Input) (request Request, left int64, token string) {
		request = build(in)
		left = form.Or(optional(in, &paramLimit, "page_size", asLimit), math.MaxInt64)
		return request, left, form.Or(optional(in, &paramNext, "page_token", form.Text), "")
	}
	return handler{
		build: func(in *Input) proto.Message { request, _, _ := read(in); return request },
		run: func(ctx context.Context, x *Exchange) error {
			request, left, token := read(&x.In)
			if err := x.In.complaint(c.Validator, request); err != nil {
				return err
			}
			nextPage := func() ([]Item, error) {
				ctx, cancel := c.callContext(ctx)
				defer cancel()
				turnTo(request, int32(min(left, pageSize)), token)
				page, err := call(ctx, request)
				if err != nil {
					return nil, err
				}
				token = page.GetNextPageToken()
				items := itemsOf(page)
				left -= int64(len(items))
				return items, nil
			}
			items, err := nextPage()
			if err != nil {
				return err
			}
			out := &x.Out
			reply.StartSuccess(out.Writer)
			out.BeginList(list.Name)
			position, err := list.Write(out, items, 0)
			for err == nil && token != "" && left > 0 {
				out.Sink.Wait()
				items, err = nextPage()
				out.Sink.Resume()
				if err == nil {
					position, err = list.Write(out, items, position)
				}
			}
			if err != nil {
				return err
			}
			out.EndList(list.Name)
			if token != "" {
				out.Text("next", token)
			}
			out.Finish()
			return nil
		},
	}
}

// writePages writes an optional list: the given items, then the pages from token on. newRequest returns
// the request for the list, which few replies need.
func writePages[Request proto.Message, Response pageResponse, Item any](
	ctx context.Context, c *Config, out *reply.Reply, list reply.List[Item], items []Item, token string,
	call call[Request, Response], itemsOf func(Response) []Item, newRequest func() Request,
) error {
	return list.WritePages(out, items, token, func(token string) ([]Item, string, error) {
		ctx, cancel := c.callContext(ctx)
		defer cancel()
		request := newRequest()
		turnTo(request, pageSize, token)
		page, err := call(ctx, request)
		if err != nil {
			return nil, "", err
		}
		return itemsOf(page), page.GetNextPageToken(), nil
	})
}
