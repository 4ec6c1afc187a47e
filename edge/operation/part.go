package operation

import (
	"google.golang.org/protobuf/proto"

	"github.com/waybook/waybook/edge/form"
	"github.com/waybook/waybook/edge/reply"
)

// The parameters limit and after, which give a part of a list, are an addition to
// the legacy contract. Without them a reply is the whole list, as there.

// maxLimit is as much as a client is likely to hold; a reply is streamed whatever
// its length.
const maxLimit = 1_000_000

func asLimit(s string) (int64, bool) {
	value, ok := form.ParseInteger(s)
	return value, ok && 1 <= value && value <= maxLimit
}

// askedLimit is how many items a service is asked for: one more than the client
// wants, which tells whether there is more, and 0 for all.
func askedLimit(in *Input) int64 {
	limit := optional(in, &paramLimit, "limit", asLimit)
	if limit == nil {
		return 0
	}
	return *limit + 1
}

// listRequest asks for a list or, with a limit, for a part of it.
type listRequest interface {
	proto.Message
	GetLimit() int64
}

// part lets the items of a list through until there are as many as the client
// wants.
type part[Item any] struct {
	isWhole bool  // no limit was given
	left    int64 // items to let through
	idOf    func(Item) int64
	lastID  int64
	// hasMore says that another item came after the last one that was wanted.
	hasMore bool
}

func newPart[Item any](request listRequest, idOf func(Item) int64) part[Item] {
	asked := request.GetLimit()
	return part[Item]{isWhole: asked == 0, left: asked - 1, idOf: idOf}
}

// take returns those of a batch's items that are to be written.
func (p *part[Item]) take(items []Item) []Item {
	if p.isWhole {
		return items
	}
	if p.hasMore = int64(len(items)) > p.left; p.hasMore {
		items = items[:p.left]
	}
	if n := len(items); n > 0 {
		p.left -= int64(n)
		p.lastID = p.idOf(items[n-1])
	}
	return items
}

// writeNext writes what to give as `after` for the items that follow, if any do.
func (p *part[Item]) writeNext(out reply.Writer) {
	if p.hasMore {
		out.Integer("next", p.lastID)
	}
}
