package rpc_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/id"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
)

// gathered is the reply of a BatchGet of any kind.
type gathered struct {
	ids, owners     []int64
	names           []string
	missing, unread []int64
}

// gather calls the BatchGet of a kind.
func (k kind) gather(ctx context.Context, ids ...int64) (g gathered, err error) {
	reply, err := k.send(ctx, "BatchGet", fields{"ids": ids})
	by := k.by()
	for _, each := range readAll[proto.Message](reply, k.lowers()) {
		g.ids, g.owners = append(g.ids, read[int64](each, string(k.field("id")))), append(g.owners, read[int64](each, by+".user_id"))
		g.names = append(g.names, read[string](each, by+".name"))
	}
	g.missing, g.unread = readAll[int64](reply, fmt.Sprintf("missing_%s_ids", k.service)), readAll[int64](reply, fmt.Sprintf("unread_%s_ids", k.service))
	return g, err
}

func TestABatchHasEachDocumentOnceInTheOrderOfTheRequestAndNamesTheMissing(t *testing.T) {
	t.Parallel()
	w := start(t)
	ann, ben := w.newUser("Ann"), w.newUser("Ben")
	w.moveAll(12, ann)
	moved := id.OfOld(12, id.PlaceOf(ann))
	const absent = int64(1 << 52)
	for _, k := range w.kinds() {
		field := string(k.field("ids"))
		t.Run(field, func(t *testing.T) {
			first, second, third := k.create(ann, "x"), k.create(ben, "x"), k.create(ann, "x")
			reply, err := k.gather(t.Context(), third, absent, second, third, 12, 13, first, moved, absent)
			want := []int64{third, second, reply.ids[2], first}
			if field != "poi_ids" {
				want[2] = moved
			}
			if got(t, 0, err); !slices.Equal(reply.ids, want) || !slices.Equal(reply.owners, []int64{ann, ben, ann, ann}) {
				t.Errorf("got %d of %d, want %d", reply.ids, reply.owners, want)
			}
			if names := strings.Join(reply.names, " "); names != "Ann Ben Ann Ann" {
				t.Errorf("the owners are %s", names)
			}
			if !slices.Equal(slices.DeleteFunc(reply.missing, func(id int64) bool { return id == moved }), []int64{absent, 13}) || len(reply.unread) > 0 {
				t.Errorf("missing %d, unread %d", reply.missing, reply.unread)
			}
			none, err := k.gather(t.Context(), absent)
			if got(t, 0, err); len(none.ids) > 0 || !slices.Equal(none.missing, []int64{absent}) {
				t.Errorf("of nothing: %+v", none)
			}
		})
	}
}

func TestABatchOfLongEntriesIsBoundedAndContinues(t *testing.T) {
	t.Parallel()
	w := start(t)
	author := w.newUser("a")
	var ids []int64
	for range 12 {
		request := newBlogRequest(author)
		request.Content = long(100_000)
		ids = append(ids, must(w.Blog.CreateBlog(t.Context(), request))(t).GetBlog().GetBlogId())
	}
	slices.Reverse(ids)
	found, left := []int64{}, append(ids, 1<<52)
	for calls := 1; len(left) > 0; calls++ {
		reply, err := w.Blog.BatchGetBlogs(t.Context(), &blogv1.BatchGetBlogsRequest{BlogIds: left})
		size := 0
		for _, b := range got(t, reply, err).GetBlogs() {
			found, size = append(found, b.GetBlogId()), size+len(b.GetContent())
		}
		if size > docstore.MaxBatchBytes || calls > 4 {
			t.Fatalf("call %d has %d bytes", calls, size)
		}
		if len(reply.GetMissingBlogIds()) > 0 != (calls == 4) {
			t.Errorf("call %d misses %d", calls, reply.GetMissingBlogIds())
		}
		left = reply.GetUnreadBlogIds()
	}
	slices.Sort(found)
	slices.Sort(ids)
	if !slices.Equal(found, ids) {
		t.Errorf("got %d, want %d", found, ids)
	}
}
