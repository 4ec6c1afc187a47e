package operation

import (
	"google.golang.org/protobuf/proto"

	"github.com/waybook/waybook/edge/form"
	"github.com/waybook/waybook/edge/reply"
)

// The parameters limit and after select a part of a list, an addition to the legacy contract.
// Without them the reply has the whole list.

// asLimit accepts about as many items as a client can hold. The edge itself streams a reply of any
// length.
func asLimit(s string) (int64, bool) {
	value, ok := form.ParseInteger(s)
	return value, ok && paramLimit.Range.Includes(value)
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

// part passes the items of a list on, up to the limit of the client.
type part[Item any] struct {
	isWhole bool  // no limit was given
	left    int64 // items still to pass on
	idOf    func(Item) (id int64, oldID string)
	lastID  int64
	lastOld string
	// hasMore says that another item follows the last one that the client wants.
	hasMore bool
}

func newPart[Item any](request listRequest, idOf func(Item) (id int64, oldID string)) part[Item] {
	asked := request.GetLimit()
	return part[Item]{isWhole: asked == 0, left: asked - 1, idOf: idOf}
}

// take returns the items of a batch to write.
func (p *part[Item]) take(items []Item) []Item {
	if p.isWhole {
		return items
	}
	if p.hasMore = int64(len(items)) > p.left; p.hasMore {
		items = items[:p.left]
	}
	if n := len(items); n > 0 {
		p.left -= int64(n)
		p.lastID, p.lastOld = p.idOf(items[n-1])
	}
	return items
}

// writeNext writes the `after` of the next request, if more items follow.
func (p *part[Item]) writeNext(out reply.Writer) {
	if p.hasMore {
		out.ID("next", p.lastID, p.lastOld)
	}
}
