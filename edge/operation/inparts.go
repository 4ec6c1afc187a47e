package operation

import (
	"context"
	"math"

	"google.golang.org/protobuf/proto"

	"github.com/waybook/waybook/edge/form"
	"github.com/waybook/waybook/edge/reply"
)

// paramNext is the parameter after of a list whose order is not that of identifiers (rule 17.6).
var paramNext = form.Parameter{Name: "after", Hint: "the next of the part before"}

// pageResponse is a page of a list.
type pageResponse interface{ GetNextPageToken() string }

// inParts returns an operation that replies with a list from pages of a service, or with a part
// of it. It holds one page at a time. The parameter after is the page token of the service.
func inParts[Request proto.Message, Response pageResponse, Item any](
	c *Config,
	build func(*Input) Request,
	turnTo func(request Request, size int32, token string),
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
