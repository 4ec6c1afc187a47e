package operation

import (
	"cmp"
	"context"
	"math"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/waybook/waybook/edge/form"
	"github.com/waybook/waybook/edge/reply"
	"github.com/waybook/waybook/internal/arena"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// The parameters limit and after select a part of a list, an addition to the legacy contract
// (rules 9.2 and 9.4). Without them the reply has the whole list. The highest limit is about as
// many items as a client can hold; the edge itself streams a reply of any length.
var (
	paramLimit = form.Parameter{
		Name: "limit", Title: form.Title{"Most items", "筆數上限"}, Hint: "1 to 1000000", Syntax: form.IntegerSyntax,
		Range: &form.Range{Min: 1, Max: 1_000_000},
	}
	paramAfter = form.Parameter{Name: "after", Title: form.Title{"Continue after", "接續於"},
		Hint: "0 to 9007199254740991", Syntax: form.IntegerSyntax}
	// paramNext is the parameter after of a list whose order is not that of identifiers (rule
	// 17.6).
	paramNext = form.Parameter{Name: "after", Title: paramAfter.Title, Hint: "the next of the part before"}
)

// limitOf returns the number of items that a client wants; 0 means all.
func limitOf(in *Input) int32 {
	return form.Or(optional(in, &paramLimit, "page_size", form.Int32), 0)
}

// limitAndNext is limitOf for an idList: one more than the client wants, because the extra item
// shows that more follow.
func limitAndNext(in *Input) int32 {
	if limit := limitOf(in); limit != 0 {
		return limit + 1
	}
	return 0
}

// listRequest is a request for a page of a list. Its page_size, as built, is the number of items
// that all pages have together; 0 means all.
type listRequest interface {
	proto.Message
	GetPageSize() int32
	GetPageToken() string
}

// pageResponse is a page of a list.
type pageResponse interface{ GetNextPageToken() string }

// searchResponse is a page of a list that a service may read much for.
type searchResponse interface{ GetReadCount() int32 }

// turnTo selects a page in a request for a list.
func turnTo(request proto.Message, size int32, token string) {
	message := request.ProtoReflect()
	fields := message.Descriptor().Fields()
	message.Set(fields.ByName("page_size"), protoreflect.ValueOfInt32(size))
	message.Set(fields.ByName("page_token"), protoreflect.ValueOfString(token))
}

// tokenList returns an operation that replies with a list from pages of a service, or with a part
// of it. The parameter after is the page token of the service.
func tokenList[Request listRequest, Response pageResponse, Item any](
	c *Config,
	build func(*Input) Request,
	call call[Request, Response],
	itemsOf func(Response) []Item,
	list reply.List[Item],
) handler {
	buildPart := func(in *Input) Request {
		request := build(in)
		turnTo(request, limitOf(in), form.Or(optional(in, &paramNext, "page_token", form.Text), ""))
		return request
	}
	return idList(c, buildPart, call, itemsOf, list, nil)
}

// idList is like tokenList, but the parameter after is the identifier that idOf returns of the
// last item of the part before. build reads it, and limitAndNext.
func idList[Request listRequest, Response pageResponse, Item any](
	c *Config,
	build func(*Input) Request,
	call call[Request, Response],
	itemsOf func(Response) []Item,
	list reply.List[Item],
	idOf func(Item) (id int64, oldID string),
) handler {
	return handler{asMessage(build), func(ctx context.Context, x *Exchange) error {
		request, err := built(ctx, c, &x.In, build)
		if err != nil {
			return err
		}
		out, end := &x.Out, part[Item]{idOf: idOf, left: cmp.Or(int64(request.GetPageSize()), math.MaxInt64),
			token: request.GetPageToken()}
		position, hasBegun := 0, false
		writePage := func() error {
			ctx, cancel := c.callContext(ctx)
			defer cancel()
			ctx, memory := arena.Lend(ctx)
			defer memory.Free()
			turnTo(request, end.pageSize(hasBegun), end.token)
			page, err := call(ctx, request)
			out.Sink.Resume()
			if err != nil {
				return err
			}
			if !hasBegun {
				hasBegun = true
				reply.StartSuccess(out.Writer)
				out.BeginList(list.Name)
			}
			if search, isSearch := any(page).(searchResponse); isSearch && search.GetReadCount() > 0 {
				x.Charge(search.GetReadCount())
			}
			position, err = list.Write(out, end.take(itemsOf(page), page.GetNextPageToken()), position)
			return err
		}
		err = writePage()
		for err == nil && end.hasMore() {
			out.Sink.Wait()
			err = writePage()
		}
		if err != nil {
			return err
		}
		out.EndList(list.Name)
		end.writeNext(out.Writer)
		out.Finish()
		return nil
	}}
}

// summaries returns the list of summaries under the names that a kind of content has in replies.
func summaries(list, item, id, title string) reply.List[*typev1.Summary] {
	return reply.List[*typev1.Summary]{Name: list, Item: item,
		WriteItem: func(out reply.Writer, summary *typev1.Summary) {
			out.ID(id, summary.GetId(), summary.GetOldId())
			out.Text(title, summary.GetTitle())
		}}
}

func summaryID(summary *typev1.Summary) (id int64, oldID string) {
	return summary.GetId(), summary.GetOldId()
}

// part is the part of a list that a client wants.
type part[Item any] struct {
	// idOf is nil if the next part begins at the page token.
	idOf func(Item) (id int64, oldID string)
	// left is the number of items still to ask for. token is that of the next page.
	left  int64
	token string
	// lastID and lastOld are the identifiers of the last item, for idOf.
	lastID  int64
	lastOld string
}

func (p *part[Item]) hasMore() bool { return p.token != "" && p.left > 0 }

// pageSize returns the size of the next page. A service that leaves items out of its pages has no
// end in short ones, so only the first one is short if the next part does not begin at a page
// token.
func (p *part[Item]) pageSize(hasBegun bool) int32 {
	if hasBegun && p.idOf != nil {
		return pageSize
	}
	return int32(min(p.left, pageSize))
}

// take returns the items of a page to write.
func (p *part[Item]) take(items []Item, token string) []Item {
	p.token = token
	p.left -= int64(len(items))
	if p.idOf == nil {
		return items
	}
	if p.left <= 0 {
		items = items[:len(items)+int(p.left)-1]
	}
	if n := len(items); n > 0 {
		p.lastID, p.lastOld = p.idOf(items[n-1])
		p.lastOld = strings.Clone(p.lastOld) // the page goes before writeNext
	}
	return items
}

// writeNext writes the `after` of the next request, if more items follow. An old identifier that
// reads as a number is not one: the next request would mean a new identifier by it.
func (p *part[Item]) writeNext(out reply.Writer) {
	switch {
	case p.idOf == nil && p.token != "":
		out.Text("next", p.token)
	case p.idOf != nil && p.left <= 0:
		if _, isNumber := form.ID(p.lastOld); isNumber {
			p.lastOld = ""
		}
		out.ID("next", p.lastID, p.lastOld)
	}
}

// writePages writes an optional list of content: the given items, then the pages from token on,
// which few replies need.
func writePages[Request proto.Message, Response pageResponse, Item any](
	ctx context.Context, c *Config, out *reply.Reply, list reply.List[Item], items []Item, token string,
	call call[Request, Response], itemsOf func(Response) []Item, of contentID,
) error {
	return list.WritePages(out, items, token, func(token string) ([]Item, string, error) {
		ctx, cancel := c.callContext(ctx)
		defer cancel()
		var none Request
		request := none.ProtoReflect().New().Interface()
		of.setIn(request)
		turnTo(request, pageSize, token)
		page, err := call(ctx, request.(Request))
		if err != nil {
			return nil, "", err
		}
		return itemsOf(page), page.GetNextPageToken(), nil
	})
}
