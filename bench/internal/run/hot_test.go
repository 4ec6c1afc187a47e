package run_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/waybook/waybook/bench/internal/load"
	"github.com/waybook/waybook/bench/internal/rival"
	"github.com/waybook/waybook/internal/clients"
	"github.com/waybook/waybook/internal/docstore/embedded"
	"github.com/waybook/waybook/internal/docstore/observed"
	"github.com/waybook/waybook/internal/platform/process"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	commentv1 "github.com/waybook/waybook/proto/gen/waybook/comment/v1"
	recommendationv1 "github.com/waybook/waybook/proto/gen/waybook/recommendation/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// The clients of BenchmarkHotAlbum.
const (
	recommenders = 64
	commenters   = 16
	// usersEach is how many users a client acts for.
	usersEach = 8
)

// BenchmarkHotAlbum measures recommendations and comments on one album, each alone and both at once, for
// three seconds. Each call to the store takes a millisecond more, as if it were on another machine.
func BenchmarkHotAlbum(b *testing.B) {
	h := newHotAlbum(b)
	for _, each := range []struct {
		name                     string
		recommenders, commenters int
	}{{"recommendations", recommenders, 0}, {"comments", 0, commenters}, {"both", recommenders, commenters}} {
		b.Run(each.name, func(b *testing.B) {
			for b.Loop() {
				ended := make(chan func())
				go func() { ended <- h.run(b, "recommendations", each.recommenders, h.recommend) }()
				report := h.run(b, "comments", each.commenters, h.comment)
				report()
				(<-ended)()
			}
		})
	}
}

// hotAlbum is an album with users who do something with it.
type hotAlbum struct {
	clients.Clients
	id    int64
	users []int64
}

func newHotAlbum(b *testing.B) *hotAlbum {
	engine, err := embedded.Open(b.Context(), filepath.Join(b.TempDir(), "hot.db"))
	if err != nil {
		b.Fatal(err)
	}
	var isFar atomic.Bool
	store := observed.Wrap(engine, nil, func(observed.Call) {
		if isFar.Load() {
			time.Sleep(time.Millisecond)
		}
	})
	stack := &process.Stack{}
	b.Cleanup(func() {
		if err := stack.Stop(context.Background()); err != nil {
			b.Error(err)
		}
		if err := engine.Close(); err != nil {
			b.Error(err)
		}
	})
	env := process.Env{Stack: stack, Out: io.Discard, Log: slog.New(slog.DiscardHandler), Fail: func(err error) { b.Error(err) }}
	channel, err := rival.StartServices(b.Context(), env, process.NewMetrics(), store)
	if err != nil {
		b.Fatal(err)
	}
	h := &hotAlbum{Clients: clients.Of(channel, channel, channel, channel)}
	for n := range recommenders * usersEach {
		made, err := h.Account.CreateUser(b.Context(), &accountv1.CreateUserRequest{Name: fmt.Sprint(n), IconUrl: "upload/icon/7.jpg"})
		if err != nil {
			b.Fatal(err)
		}
		h.users = append(h.users, made.GetUser().GetUserId())
	}
	made, err := h.Album.CreateAlbum(b.Context(), &albumv1.CreateAlbumRequest{
		OwnerId: h.users[0], Title: "象山", Category: albumv1.AlbumCategory_ALBUM_CATEGORY_LANDSCAPES,
		Location: &typev1.Location{Lat: 25.034, Lng: 121.5645},
	})
	if err != nil {
		b.Fatal(err)
	}
	h.id = made.GetAlbum().GetAlbumId()
	isFar.Store(true)
	return h
}

// run lets clients call for three seconds, each for some of the users in turn. The returned function reports what
// came of it.
func (h *hotAlbum) run(b *testing.B, what string, clients int, call func(ctx context.Context, user int64, turn int) error) (report func()) {
	if clients == 0 {
		return func() {}
	}
	var failed atomic.Int64
	done, err := load.Closed(b.Context(), func(n int) (load.Connection, error) {
		calls := 0
		return load.Func(func(ctx context.Context) error {
			ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
			defer cancel()
			if err := call(ctx, h.users[n*usersEach+calls%usersEach], calls/usersEach); err != nil {
				failed.Add(1)
			}
			calls++
			return nil
		}), nil
	}, clients, 3*time.Second)
	if err != nil {
		b.Error(err)
	}
	return func() {
		b.ReportMetric(done.Rate(), what+"/s")
		b.ReportMetric(float64(done.Quantile(0.99).Microseconds())/1e3, "p99-ms-"+what)
		b.ReportMetric(float64(failed.Load()), "failed-"+what)
	}
}

func (h *hotAlbum) comment(ctx context.Context, user int64, _ int) error {
	_, err := h.Comment.AddComment(ctx, &commentv1.AddCommentRequest{
		Parent: &commentv1.AddCommentRequest_AlbumId{AlbumId: h.id}, AuthorId: user, Text: "好",
	})
	return err
}

// recommend recommends, and withdraws that the next time.
func (h *hotAlbum) recommend(ctx context.Context, user int64, turn int) (err error) {
	if turn%2 == 1 {
		_, err = h.Recommendation.Withdraw(ctx, &recommendationv1.WithdrawRequest{
			Parent: &recommendationv1.WithdrawRequest_AlbumId{AlbumId: h.id}, UserId: user,
		})
	} else {
		_, err = h.Recommendation.Recommend(ctx, &recommendationv1.RecommendRequest{
			Parent: &recommendationv1.RecommendRequest_AlbumId{AlbumId: h.id}, UserId: user,
		})
	}
	return err
}
