package rpc_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"google.golang.org/grpc/codes"

	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// recent lists recent content of a category.
type recent func(ctx context.Context, category, size int32, token string) ([]int64, string, error)

func (w *waybook) recentAlbums(ctx context.Context, category, size int32, token string) ([]int64, string, error) {
	r, err := w.album.ListRecentAlbums(ctx, &albumv1.ListRecentAlbumsRequest{Category: albumv1.AlbumCategory(category), PageSize: size, PageToken: token})
	return idsOf(r.GetAlbums(), (*albumv1.Album).GetAlbumId), r.GetNextPageToken(), err
}

func (w *waybook) recentBlogs(ctx context.Context, category, size int32, token string) ([]int64, string, error) {
	r, err := w.blog.ListRecentBlogs(ctx, &blogv1.ListRecentBlogsRequest{Type: blogv1.BlogType(category), PageSize: size, PageToken: token})
	return idsOf(r.GetBlogs(), (*blogv1.Blog).GetBlogId), r.GetNextPageToken(), err
}

// all reads all pages.
func (list recent) all(t *testing.T, category, size int32) (all []int64) {
	t.Helper()
	for token := ""; ; {
		ids, next, err := list(t.Context(), category, size, token)
		if got(t, 0, err); size > 0 && (len(ids) > int(size) || len(ids) < int(size) && next != "") {
			t.Errorf("a page of %d has %d", size, len(ids))
		}
		all = append(all, ids...)
		if token = next; token == "" {
			return all
		}
	}
}

func TestRecentAlbumsAreThoseOfAllUsersNewestFirst(t *testing.T) {
	w := start(t)
	owners := []int64{w.newUser("a"), w.newUser("b"), w.newUser("c")}
	var want [3][]int64
	for i := range 30 {
		category := int32(1 + i%2)
		id := must(w.album.CreateAlbum(t.Context(), &albumv1.CreateAlbumRequest{
			OwnerId: owners[i%3], Title: "x", Category: albumv1.AlbumCategory(category), Location: taipei,
		}))(t).GetAlbum().GetAlbumId()
		want[0], want[category] = append(want[0], id), append(want[category], id)
	}
	for category := range want {
		// Within 16 ms the order is that of the owners' places.
		slices.Sort(want[category])
		slices.Reverse(want[category])
		for _, size := range []int32{0, 1, 7, 30, 1000} {
			if ids := recent(w.recentAlbums).all(t, int32(category), size); !slices.Equal(ids, want[category]) {
				t.Errorf("category %d in pages of %d: %d, want %d", category, size, ids, want[category])
			}
		}
	}
	if ids := recent(w.recentAlbums).all(t, 3, 5); len(ids) != 0 {
		t.Errorf("an empty category has %d", ids)
	}
}

func TestRecentEntriesArePublishedOnesByPlannedDate(t *testing.T) {
	p := startParts(t) // on 2026-05-01
	ann, ben := p.newUser("a"), p.newUser("b")
	post := func(author int64, kind blogv1.BlogType, month, day int32) int64 {
		request := newBlogRequest(author)
		request.Type, request.PostDate = kind, &typev1.Date{Year: 2026, Month: month, Day: day}
		r, err := p.blog.CreateBlog(t.Context(), request)
		p.advance(time.Second)
		return got(t, r, err).GetBlog().GetBlogId()
	}
	tomorrow := post(ann, 1, 5, 2)
	old := post(ben, 2, 3, 1)
	today := post(ann, 1, 5, 1)
	yesterday := post(ben, 1, 4, 30)
	todayToo := post(ben, 2, 5, 1)
	list := recent(p.recentBlogs)
	for category, want := range [][]int64{{todayToo, today, yesterday, old}, {today, yesterday}, {todayToo, old}, nil} {
		for _, size := range []int32{0, 1, 3} {
			if ids := list.all(t, int32(category), size); !slices.Equal(ids, want) {
				t.Errorf("type %d in pages of %d: %d, want %d", category, size, ids, want)
			}
		}
	}
	first, token, err := list(t.Context(), 0, 2, "")
	got(t, first, err)
	p.advance(24 * time.Hour)
	rest, _, err := list(t.Context(), 0, 10, token)
	if got(t, 0, err); !slices.Equal(rest, []int64{yesterday, old}) {
		t.Errorf("after midnight the walk continues with %d", rest)
	}
	if ids := list.all(t, 0, 0); !slices.Equal(ids, []int64{tomorrow, todayToo, today, yesterday, old}) {
		t.Errorf("a new walk shows %d", ids)
	}
}

func TestAListOfRecentContentFailsAsTheContractSays(t *testing.T) {
	w := start(t)
	owner := w.newUser("a")
	for range 2 {
		w.newAlbum(owner, "x")
		w.newBlog(owner)
	}
	for name, kind := range map[string]struct {
		list        recent
		field       string
		mostPerPage int32
	}{"albums": {w.recentAlbums, "category", 1000}, "entries": {w.recentBlogs, "type", 100}} {
		_, token, err := kind.list(t.Context(), 0, 1, "")
		if got(t, token, err) == "" {
			t.Fatal("there is no second page")
		}
		for what, test := range map[string]struct {
			category, size int32
			token, field   string
		}{
			"an unknown category":          {77, 0, "", kind.field},
			"too large a page":             {0, kind.mostPerPage + 1, "", "page_size"},
			"a token of all categories":    {1, 0, token, "page_token"},
			"a token cut short":            {0, 0, token[:len(token)-1], "page_token"},
			"nonsense":                     {0, 0, "nonsense", "page_token"},
			"a token of a day that is not": {0, 0, "99991231" + token[min(8, len(token)):], "page_token"},
		} {
			t.Run(name+" "+what, func(t *testing.T) {
				_, _, err := kind.list(t.Context(), test.category, test.size, test.token)
				expectFault(t, err, codes.InvalidArgument, "INVALID_PARAMETER", test.field)
			})
		}
	}
}
