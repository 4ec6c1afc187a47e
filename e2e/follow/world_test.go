package follow

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	"buf.build/go/protovalidate"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/waybook/waybook/internal/content"
	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/platform/process"
	"github.com/waybook/waybook/internal/platform/service"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	"github.com/waybook/waybook/services/account"
	"github.com/waybook/waybook/services/album"
)

// settling is long enough for the slowest machine to store a child beside its parent in most cases.
const settling = 100 * time.Millisecond

// stepping is a clock that steps. passed is by how much it is ahead for good.
type stepping struct{ offset, passed atomic.Int64 }

func (s *stepping) now() time.Time {
	return time.Now().Add(time.Duration(s.offset.Load() + s.passed.Load()))
}

// pass lets time pass until a sweep forgets each deletion from before, wherever steps have left the
// clock: no source can draw the identifiers, which are of the machine's time.
func (s *stepping) pass() { s.passed.Add(int64(27 * time.Hour)) }

// step moves the clock by up to an hour, in either direction.
func (s *stepping) step() { s.offset.Store(rand.Int64N(int64(2*time.Hour)) - int64(time.Hour)) }

// direct calls the account service in the process.
type direct struct {
	accountv1.AccountServiceClient
	server account.Service
}

func (d direct) BatchGetUsers(
	ctx context.Context, request *accountv1.BatchGetUsersRequest, _ ...grpc.CallOption,
) (*accountv1.BatchGetUsersResponse, error) {
	return d.server.BatchGetUsers(ctx, request)
}

// replica is a process with the services of users and albums.
type replica struct {
	address string
	account accountv1.AccountServiceClient
	album   albumv1.AlbumServiceClient
	// sweep forgets deletions. A program does so every minute.
	sweep func(context.Context) error
}

// startReplica serves users and albums in a store, until the test ends.
func startReplica(t *testing.T, store docstore.Engine) replica {
	t.Helper()
	stack := &process.Stack{}
	t.Cleanup(func() {
		if err := stack.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	env := process.Env{
		Stack: stack, Out: io.Discard, Log: slog.New(slog.DiscardHandler), Fail: func(err error) { t.Errorf("a part failed: %v", err) },
	}
	validator := protovalidate.GlobalValidator
	host := service.Host{Env: env, Metrics: process.NewMetrics(), Deps: service.NewDeps(store, validator, env.Log)}
	host.Deps.Changes = service.Changes{Settling: settling, Kept: time.Nanosecond}
	accounts := must(account.New(t.Context(), host.Deps, account.Config{Sessions: account.SessionLife{Total: time.Hour}}))
	deps := content.NewDeps(host, direct{server: accounts})
	albums := must(album.New(t.Context(), deps))
	services := []service.Service{accounts, albums}
	listener := must(process.Listen(t.Context(), "grpc", "127.0.0.1:0"))
	service.Serve(env, "grpc port", listener, nil, service.NewInterceptors(validator, service.Load{}, nil, host.Metrics, env.Log), nil, services...)
	connection := must(grpc.NewClient(listener.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials())))
	t.Cleanup(func() {
		if err := connection.Close(); err != nil {
			t.Error(err)
		}
	})
	return replica{
		address: listener.Addr().String(), account: accountv1.NewAccountServiceClient(connection), album: albumv1.NewAlbumServiceClient(connection),
		sweep: func(ctx context.Context) error { return errors.Join(accounts.Sweep(ctx), albums.Sweep(ctx)) },
	}
}

// must ends the test by a panic.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}
