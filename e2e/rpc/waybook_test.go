package rpc_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/waybook/waybook/internal/platform/process"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
	"github.com/waybook/waybook/services/account"
	"github.com/waybook/waybook/standalone/app"
)

// waybook is a running Waybook without content, with clients of its services over TCP.
type waybook struct {
	t          testing.TB
	connection *grpc.ClientConn
	account    accountv1.AccountServiceClient
	album      albumv1.AlbumServiceClient
	blog       blogv1.BlogServiceClient
	poi        poiv1.PoiServiceClient
}

// start starts Waybook and stops it when the test ends.
func start(t testing.TB, changes ...func(*app.Config)) *waybook {
	t.Helper()
	app, err := app.Start(t.Context(), newConfig(t, changes...), newEnv(t))
	if err != nil {
		t.Fatal(err)
	}
	return connect(t, app.GRPC)
}

// startStoppable is start, and returns what stops it before the test ends.
func startStoppable(t testing.TB, changes ...func(*app.Config)) (w *waybook, stop func()) {
	t.Helper()
	env := newEnv(t)
	app, err := app.Start(t.Context(), newConfig(t, changes...), env)
	if err != nil {
		t.Fatal(err)
	}
	return connect(t, app.GRPC), func() {
		if err := env.Stack.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	}
}

// newConfig returns settings with a store of their own.
func newConfig(t testing.TB, changes ...func(*app.Config)) app.Config {
	t.Helper()
	config := app.Config{
		HTTP: "127.0.0.1:0", GRPC: "127.0.0.1:0", Admin: "127.0.0.1:0",
		TimeZone: "UTC", Account: account.Config{Sessions: account.SessionLife{Total: time.Hour}}, Reward: 10,
	}
	config.Store.Data = t.TempDir()
	for _, change := range changes {
		change(&config)
	}
	return config
}

// newEnv returns the environment for the parts of a test. They stop when the test ends.
func newEnv(t testing.TB) process.Env {
	t.Helper()
	stack := &process.Stack{}
	t.Cleanup(func() {
		if err := stack.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return process.Env{
		Stack: stack, Out: io.Discard, Log: slog.New(slog.DiscardHandler),
		Fail: func(err error) { t.Errorf("a part failed: %v", err) },
	}
}

func connect(t testing.TB, address net.Addr) *waybook {
	t.Helper()
	connection, err := grpc.NewClient(address.String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := connection.Close(); err != nil {
			t.Error(err)
		}
	})
	return &waybook{
		t: t, connection: connection,
		account: accountv1.NewAccountServiceClient(connection),
		album:   albumv1.NewAlbumServiceClient(connection),
		blog:    blogv1.NewBlogServiceClient(connection),
		poi:     poiv1.NewPoiServiceClient(connection),
	}
}

// got returns a reply, or ends the test if the call failed.
func got[T any](t testing.TB, reply T, err error) T {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return reply
}

// must returns what returns the reply of a call, or ends the test if the call failed:
// must(w.blog.GetBlog(ctx, request))(t).
func must[T any](reply T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		return got(t, reply, err)
	}
}

// requestID returns the n-th UUID of a test.
func requestID(n int) string { return fmt.Sprintf("00000000-0000-4000-8000-%012d", n) }

var taipei = &typev1.Location{Lat: 25.034, Lng: 121.5645}

func (w *waybook) newUser(name string) int64 {
	w.t.Helper()
	return must(w.account.CreateUser(w.t.Context(), &accountv1.CreateUserRequest{Name: name, IconUrl: name + ".jpg"}))(w.t).GetUser().GetUserId()
}

func (w *waybook) newAlbum(owner int64, title string) int64 {
	w.t.Helper()
	return must(w.album.CreateAlbum(w.t.Context(), &albumv1.CreateAlbumRequest{
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
	return must(w.blog.CreateBlog(w.t.Context(), newBlogRequest(author)))(w.t).GetBlog().GetBlogId()
}

func (w *waybook) newPoi(owner int64, name string) int64 {
	w.t.Helper()
	return must(w.poi.CreatePoi(w.t.Context(), &poiv1.CreatePoiRequest{
		OwnerId: owner, Name: name, Category: poiv1.PoiCategory_POI_CATEGORY_TENDER, Location: taipei,
	}))(w.t).GetPoi().GetPoiId()
}

func (w *waybook) getAlbum(id int64) *albumv1.GetAlbumResponse {
	w.t.Helper()
	return must(w.album.GetAlbum(w.t.Context(), &albumv1.GetAlbumRequest{AlbumId: id}))(w.t)
}

func (w *waybook) getBlog(id int64) *blogv1.GetBlogResponse {
	w.t.Helper()
	return must(w.blog.GetBlog(w.t.Context(), &blogv1.GetBlogRequest{BlogId: id}))(w.t)
}

func (w *waybook) getPoi(id int64) *poiv1.GetPoiResponse {
	w.t.Helper()
	return must(w.poi.GetPoi(w.t.Context(), &poiv1.GetPoiRequest{PoiId: id}))(w.t)
}
