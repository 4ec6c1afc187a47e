package rpc_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"

	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/id"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
)

// gathered is the reply of a BatchGet of any kind.
type gathered struct {
	ids, owners     []int64
	names           []string
	missing, unread []int64
}

// batches returns the BatchGet of each kind.
func (w *waybook) batches() map[string]func(context.Context, ...int64) (gathered, error) {
	return map[string]func(context.Context, ...int64) (gathered, error){
		"album_ids": func(ctx context.Context, ids ...int64) (g gathered, err error) {
			r, err := w.album.BatchGetAlbums(ctx, &albumv1.BatchGetAlbumsRequest{AlbumIds: ids})
			for _, a := range r.GetAlbums() {
				g.ids, g.owners, g.names = append(g.ids, a.GetAlbumId()), append(g.owners, a.GetOwner().GetUserId()), append(g.names, a.GetOwner().GetName())
			}
			g.missing, g.unread = r.GetMissingAlbumIds(), r.GetUnreadAlbumIds()
			return g, err
		},
		"blog_ids": func(ctx context.Context, ids ...int64) (g gathered, err error) {
			r, err := w.blog.BatchGetBlogs(ctx, &blogv1.BatchGetBlogsRequest{BlogIds: ids})
			for _, b := range r.GetBlogs() {
				g.ids, g.owners, g.names = append(g.ids, b.GetBlogId()), append(g.owners, b.GetAuthor().GetUserId()), append(g.names, b.GetAuthor().GetName())
			}
			g.missing, g.unread = r.GetMissingBlogIds(), r.GetUnreadBlogIds()
			return g, err
		},
		"poi_ids": func(ctx context.Context, ids ...int64) (g gathered, err error) {
			r, err := w.poi.BatchGetPois(ctx, &poiv1.BatchGetPoisRequest{PoiIds: ids})
			for _, p := range r.GetPois() {
				g.ids, g.owners, g.names = append(g.ids, p.GetPoiId()), append(g.owners, p.GetOwner().GetUserId()), append(g.names, p.GetOwner().GetName())
			}
			g.missing, g.unread = r.GetMissingPoiIds(), r.GetUnreadPoiIds()
			return g, err
		},
	}
}

// newContent creates content of the kind that a field names.
func (w *waybook) newContent(field string, owner int64) int64 {
	switch field {
	case "album_ids":
		return w.newAlbum(owner, "x")
	case "blog_ids":
		return w.newBlog(owner)
	}
	return w.newPoi(owner, fmt.Sprint(owner))
}

func TestABatchHasEachDocumentOnceInTheOrderOfTheRequestAndNamesTheMissing(t *testing.T) {
	w := start(t)
	ann, ben := w.newUser("Ann"), w.newUser("Ben")
	w.moveAll(12, ann)
	moved := id.OfOld(12, id.PlaceOf(ann))
	const absent = int64(1 << 52)
	for field, batch := range w.batches() {
		t.Run(field, func(t *testing.T) {
			first, second, third := w.newContent(field, ann), w.newContent(field, ben), w.newContent(field, ann)
			reply, err := batch(t.Context(), third, absent, second, third, 12, 13, first, moved, absent)
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
			none, err := batch(t.Context(), absent)
			if got(t, 0, err); len(none.ids) > 0 || !slices.Equal(none.missing, []int64{absent}) {
				t.Errorf("of nothing: %+v", none)
			}
		})
	}
}

func TestABatchTakesAThousandIdentifiersAndRefusesOthers(t *testing.T) {
	w := start(t)
	owner := w.newUser("a")
	for field, batch := range w.batches() {
		t.Run(field, func(t *testing.T) {
			ids := []int64{w.newContent(field, owner)}
			for n := range int64(999) {
				ids = append(ids, 1<<52+n)
			}
			reply, err := batch(t.Context(), ids...)
			if got(t, 0, err); len(reply.ids) != 1 || !slices.Equal(reply.missing, ids[1:]) {
				t.Errorf("%d found, %d missing", len(reply.ids), len(reply.missing))
			}
			for _, invalid := range []struct {
				ids    []int64
				fields []string
			}{
				{nil, []string{field}},
				{append(ids, 5), []string{field}},
				{[]int64{1, 0, tooHigh}, []string{field + "[1]", field + "[2]"}},
			} {
				expectFault(t, failed(batch(t.Context(), invalid.ids...)), codes.InvalidArgument, "INVALID_PARAMETER", invalid.fields...)
			}
		})
	}
}

func TestABatchOfLongEntriesIsBoundedAndContinues(t *testing.T) {
	w := start(t)
	author := w.newUser("a")
	var ids []int64
	for range 12 {
		request := newBlogRequest(author)
		request.Content = long(100_000)
		ids = append(ids, must(w.blog.CreateBlog(t.Context(), request))(t).GetBlog().GetBlogId())
	}
	slices.Reverse(ids)
	found, left := []int64{}, append(ids, 1<<52)
	for calls := 1; len(left) > 0; calls++ {
		reply, err := w.blog.BatchGetBlogs(t.Context(), &blogv1.BatchGetBlogsRequest{BlogIds: left})
		size := 0
		for _, b := range got(t, reply, err).GetBlogs() {
			found, size = append(found, b.GetBlogId()), size+len(b.GetContent())
		}
		if size > docstore.MaxPageBytes || calls > 4 {
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
