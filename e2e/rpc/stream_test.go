package rpc_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"google.golang.org/grpc/codes"

	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
)

func TestAStreamOfAlbumsStartsAfterAnIdentifierAndEndsAtALimit(t *testing.T) {
	// More than two batches.
	const count = 450
	w := start(t)
	owner, other := w.newUser("a"), w.newUser("b")
	ids := make([]int64, count)
	parallel(t, count, func(i int) error {
		if i%10 == 0 {
			w.newAlbum(other, "x") // between the owner's
		}
		r, err := w.album.CreateAlbum(t.Context(), &albumv1.CreateAlbumRequest{OwnerId: owner, Title: fmt.Sprint(i), Category: 1, Location: taipei})
		ids[i] = r.GetAlbum().GetAlbumId()
		return err
	})
	slices.Sort(ids)
	stream := func(after, limit int64) []int64 {
		t.Helper()
		batches, err := collect(w.album.StreamAlbums(t.Context(), &albumv1.StreamAlbumsRequest{OwnerId: owner, AfterAlbumId: after, Limit: limit}))
		var sent []int64
		for _, batch := range got(t, batches, err) {
			sent = append(sent, idsOf(batch.GetAlbums(), (*albumv1.AlbumSummary).GetAlbumId)...)
		}
		return sent
	}
	starts := map[int64]int{0: 0, ids[0] - 1: 0, ids[0]: 1, ids[count/2]: count/2 + 1, ids[count-2]: count - 1, ids[count-1]: count, tooHigh - 1: count}
	for after, first := range starts {
		for _, limit := range []int64{0, 1, 2, 199, 200, 201, 400, count, count + 1, math.MaxInt64} {
			want := ids[first:]
			if limit > 0 && limit < int64(len(want)) {
				want = want[:limit]
			}
			if sent := stream(after, limit); !slices.Equal(sent, want) {
				t.Errorf("after the first %d, up to %d: %d albums, want %d", first, limit, len(sent), len(want))
			}
		}
	}
	expectFault(t, failed(collect(w.album.StreamAlbums(t.Context(), &albumv1.StreamAlbumsRequest{OwnerId: 1, AfterAlbumId: 1, Limit: 1}))),
		codes.NotFound, "USER_NOT_FOUND")
}

func TestAStreamOfEntriesMayLeaveOutThoseThatAreNotPublished(t *testing.T) {
	const count = 410 // more than two batches, of which two thirds are published
	w := start(t)
	author := w.newUser("a")
	all := make([]int64, count)
	parallel(t, count, func(i int) error {
		request := newBlogRequest(author)
		if i%3 == 0 {
			request.PostDate.Year = 9999
		}
		r, err := w.blog.CreateBlog(t.Context(), request)
		all[i] = r.GetBlog().GetBlogId()
		return err
	})
	var published []int64
	for i, id := range all {
		if i%3 != 0 {
			published = append(published, id)
		}
	}
	slices.Sort(all)
	slices.Sort(published)
	for _, c := range []struct {
		after, limit int64
		publication  blogv1.BlogPublication
		want         []int64
	}{
		{0, 0, blogv1.BlogPublication_BLOG_PUBLICATION_UNSPECIFIED, all},
		{all[200], 201, blogv1.BlogPublication_BLOG_PUBLICATION_UNSPECIFIED, all[201:402]},
		{0, 0, blogv1.BlogPublication_BLOG_PUBLICATION_PUBLISHED, published},
		{published[9], 200, blogv1.BlogPublication_BLOG_PUBLICATION_PUBLISHED, published[10:210]},
		{published[len(published)-1], 1, blogv1.BlogPublication_BLOG_PUBLICATION_PUBLISHED, nil},
	} {
		batches, err := collect(w.blog.StreamBlogs(t.Context(), &blogv1.StreamBlogsRequest{
			AuthorId: author, AfterBlogId: c.after, Limit: c.limit, Publication: c.publication,
		}))
		var sent []int64
		for _, batch := range got(t, batches, err) {
			sent = append(sent, idsOf(batch.GetBlogs(), (*blogv1.BlogSummary).GetBlogId)...)
		}
		if !slices.Equal(sent, c.want) {
			t.Errorf("after %d, up to %d, %v: %d entries, want %d", c.after, c.limit, c.publication, len(sent), len(c.want))
		}
	}
	expectFault(t, failed(collect(w.blog.StreamBlogs(t.Context(), &blogv1.StreamBlogsRequest{AuthorId: 1}))), codes.NotFound, "USER_NOT_FOUND")
	expectFault(t, failed(collect(w.blog.StreamBlogs(t.Context(), &blogv1.StreamBlogsRequest{AfterBlogId: tooHigh, Limit: -1, Publication: 2}))),
		codes.InvalidArgument, "INVALID_PARAMETER", "author_id", "after_blog_id", "limit", "publication")
}
