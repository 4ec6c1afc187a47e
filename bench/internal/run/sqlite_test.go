package run_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/waybook/waybook/bench/internal/load"
	"github.com/waybook/waybook/bench/internal/rival"
	"github.com/waybook/waybook/bench/internal/sqlite"
	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/docstore/embedded"
	"github.com/waybook/waybook/internal/platform/process"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// clients are the numbers of callers, each with a user of its own.
var clients = []int{1, 16, 64}

// BenchmarkCreateAlbum measures CreateAlbum, in process and durable, with albums in the embedded engine and in
// SQLite. The two take turns of two seconds: `-benchtime 9x` makes nine of each.
func BenchmarkCreateAlbum(b *testing.B) {
	for _, count := range clients {
		b.Run(fmt.Sprintf("clients=%d", count), func(b *testing.B) {
			stores := []*albums{newAlbums(b, "embedded", embeddedAlone), newAlbums(b, "sqlite", withSQLite)}
			for b.Loop() {
				for _, store := range stores {
					store.turn(b, count)
				}
			}
			for _, store := range stores {
				b.ReportMetric(float64(store.made)/store.elapsed.Seconds(), store.name+"-albums/s")
				b.ReportMetric(float64(store.cpu.Microseconds())/float64(store.made), store.name+"-cpu-µs/album")
			}
		})
	}
}

func embeddedAlone(_ string, below docstore.Engine) docstore.Engine { return below }

func withSQLite(dir string, below docstore.Engine) docstore.Engine {
	return &sqlite.Engine{Engine: below, Collection: "albums", Path: filepath.Join(dir, "albums.sqlite")}
}

// albums is the album service over a store, and what its turns came to.
type albums struct {
	name         string
	client       albumv1.AlbumServiceClient
	users        []int64
	made         int
	elapsed, cpu time.Duration
}

func newAlbums(b *testing.B, name string, over func(dir string, below docstore.Engine) docstore.Engine) *albums {
	dir := b.TempDir()
	below, err := embedded.Open(b.Context(), filepath.Join(dir, "store.db"))
	if err != nil {
		b.Fatal(err)
	}
	store, stack := over(dir, below), &process.Stack{}
	b.Cleanup(func() {
		if err := errors.Join(stack.Stop(context.Background()), store.Close()); err != nil {
			b.Error(err)
		}
	})
	env := process.Env{Stack: stack, Out: io.Discard, Log: slog.New(slog.DiscardHandler), Fail: func(err error) { b.Error(err) }}
	channel, err := rival.StartServices(b.Context(), env, process.NewMetrics(), store)
	if err != nil {
		b.Fatal(err)
	}
	a := &albums{name: name, client: albumv1.NewAlbumServiceClient(channel)}
	accounts := accountv1.NewAccountServiceClient(channel)
	for n := range clients[len(clients)-1] {
		made, err := accounts.CreateUser(b.Context(), &accountv1.CreateUserRequest{Name: fmt.Sprint(n)})
		if err != nil {
			b.Fatal(err)
		}
		a.users = append(a.users, made.GetUser().GetUserId())
	}
	return a
}

// turn creates albums for two seconds.
func (a *albums) turn(b *testing.B, count int) {
	before := used(b)
	done, err := load.Closed(b.Context(), func(n int) (load.Connection, error) {
		request := &albumv1.CreateAlbumRequest{
			OwnerId: a.users[n], Title: "台北101與象山", Category: albumv1.AlbumCategory_ALBUM_CATEGORY_LANDSCAPES,
			Location: &typev1.Location{Lat: 25.034, Lng: 121.5645},
		}
		return load.Func(func(ctx context.Context) error {
			_, err := a.client.CreateAlbum(ctx, request)
			return err
		}), nil
	}, count, 2*time.Second)
	if err != nil {
		b.Fatal(err)
	}
	a.cpu += used(b) - before
	a.made += len(done.Latencies)
	a.elapsed += done.Elapsed
}

// used is the CPU time of this process.
func used(b *testing.B) time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
