package rpc_test

import (
	"fmt"
	"testing"

	"github.com/waybook/waybook/internal/waybooktest"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// waybook is a running Waybook without content, with clients of its services over TCP.
type waybook struct {
	*waybooktest.Waybook
	t testing.TB
}

// start starts Waybook and stops it when the test ends.
func start(t testing.TB, options ...waybooktest.Option) *waybook {
	t.Helper()
	return &waybook{waybooktest.Start(t, options...), t}
}

// got returns a reply, or ends the test if the call failed.
func got[T any](t testing.TB, reply T, err error) T {
	t.Helper()
	return waybooktest.Must(reply, err)(t)
}

// must returns what returns the reply of a call, or ends the test if the call failed:
// must(w.Blog.GetBlog(ctx, request))(t).
func must[T any](reply T, err error) func(testing.TB) T { return waybooktest.Must(reply, err) }

// requestID returns the n-th UUID of a test.
func requestID(n int) string { return fmt.Sprintf("00000000-0000-4000-8000-%012d", n) }

var taipei = &typev1.Location{Lat: 25.034, Lng: 121.5645}

func (w *waybook) newUser(name string) int64 {
	w.t.Helper()
	return must(w.Account.CreateUser(w.t.Context(), &accountv1.CreateUserRequest{Name: name, IconUrl: name + ".jpg"}))(w.t).GetUser().GetUserId()
}

func (w *waybook) newAlbum(owner int64, title string) int64 {
	w.t.Helper()
	return must(w.Album.CreateAlbum(w.t.Context(), &albumv1.CreateAlbumRequest{
		OwnerId: owner, Title: title, Category: albumv1.AlbumCategory_ALBUM_CATEGORY_FOOD, Location: taipei,
	}))(w.t).GetAlbum().GetAlbumId()
}

// newBlogRequest returns a valid request for an entry with a vote of three choices.
func newBlogRequest(author int64) *blogv1.CreateBlogRequest {
	return &blogv1.CreateBlogRequest{
		AuthorId: author, Type: blogv1.BlogType_BLOG_TYPE_MOOD, Location: taipei, Title: "標題", Content: "一\r\n二",
		PostDate: &typev1.Date{Year: 2026, Month: 2, Day: 28}, Weather: blogv1.Weather_WEATHER_RAINBOW,
		Vote: &blogv1.NewVote{Description: "哪裡?", Choices: []string{"山", "海", "城"}},
	}
}

func (w *waybook) newBlog(author int64) int64 {
	w.t.Helper()
	return must(w.Blog.CreateBlog(w.t.Context(), newBlogRequest(author)))(w.t).GetBlog().GetBlogId()
}

func (w *waybook) newPoi(owner int64, name string) int64 {
	w.t.Helper()
	return must(w.Poi.CreatePoi(w.t.Context(), &poiv1.CreatePoiRequest{
		OwnerId: owner, Name: name, Category: poiv1.PoiCategory_POI_CATEGORY_TENDER, Location: taipei,
	}))(w.t).GetPoi().GetPoiId()
}

func (w *waybook) getAlbum(id int64) *albumv1.GetAlbumResponse {
	w.t.Helper()
	return must(w.Album.GetAlbum(w.t.Context(), &albumv1.GetAlbumRequest{AlbumId: id}))(w.t)
}

func (w *waybook) getBlog(id int64) *blogv1.GetBlogResponse {
	w.t.Helper()
	return must(w.Blog.GetBlog(w.t.Context(), &blogv1.GetBlogRequest{BlogId: id}))(w.t)
}

func (w *waybook) getPoi(id int64) *poiv1.GetPoiResponse {
	w.t.Helper()
	return must(w.Poi.GetPoi(w.t.Context(), &poiv1.GetPoiRequest{PoiId: id}))(w.t)
}
