package account

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/docstore/embedded"
	"github.com/waybook/waybook/internal/platform/apierror"
	"github.com/waybook/waybook/internal/platform/service"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
)

// bench has a store, a clock that the test sets, and a record of the passwords that were
// hashed. A fake hash replaces the expensive one.
type bench struct {
	store docstore.Engine

	mu     sync.Mutex
	now    time.Time
	hashes []cost
}

// cost are the cost parameters of one hash.
type cost struct {
	passes, memoryKiB uint32
	lanes             uint8
	keyBytes          uint32
}

func newBench(t testing.TB) *bench {
	t.Helper()
	b := &bench{now: time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)}
	store, err := embedded.OpenWithClock(filepath.Join(t.TempDir(), "store.db"), b.clock)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	b.store = store
	return b
}

// distant is a store over a network: calls that do not need each other's results are made at the same time.
type distant struct{ docstore.Engine }

func (distant) IsLocal() bool { return false }

// eachWay runs a test on a store in the process and on a distant one.
func eachWay(t *testing.T, test func(t *testing.T, b *bench)) {
	t.Helper()
	t.Run("local", func(t *testing.T) { test(t, newBench(t)) })
	t.Run("distant", func(t *testing.T) {
		b := newBench(t)
		b.store = distant{b.store}
		test(t, b)
	})
}

// newServer returns another service on the same store, like a replica.
func (b *bench) newServer(t testing.TB) *server {
	t.Helper()
	return b.newServerWith(t, SessionLife{Total: time.Hour})
}

func (b *bench) newServerWith(t testing.TB, life SessionLife) *server {
	t.Helper()
	return b.newServerOf(t, Config{Sessions: life})
}

func (b *bench) newServerOf(t testing.TB, config Config) *server {
	t.Helper()
	deps := service.NewDeps(b.store, slog.New(slog.DiscardHandler))
	deps.Now = b.clock
	opened, err := New(t.Context(), deps, config)
	if err != nil {
		t.Fatal(err)
	}
	s := opened.(*server)
	s.passwords.derive = b.derive
	return s
}

// derive is the fake hash: the key contains the password. It records the cost.
func (b *bench) derive(password, salt []byte, passes, memoryKiB uint32, lanes uint8, keyBytes uint32) []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.hashes = append(b.hashes, cost{passes, memoryKiB, lanes, keyBytes})
	key := make([]byte, keyBytes)
	copy(key, append(salt[:1:1], password...))
	return key
}

func (b *bench) clock() time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.now
}

func (b *bench) advance(by time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.now = b.now.Add(by)
}

// hashed returns the hashes since its last call.
func (b *bench) hashed() []cost {
	b.mu.Lock()
	defer b.mu.Unlock()
	since := b.hashes
	b.hashes = nil
	return since
}

func (s *server) newUser(t testing.TB, email, password string) int64 {
	t.Helper()
	reply, err := s.CreateUser(t.Context(), &accountv1.CreateUserRequest{Name: "x", Email: email, Password: password})
	if err != nil {
		t.Fatal(err)
	}
	return reply.GetUser().GetUserId()
}

func (s *server) logIn(ctx context.Context, email, password, client string) error {
	_, err := s.Authenticate(ctx, &accountv1.AuthenticateRequest{Email: email, Password: password, ClientAddress: client})
	return err
}

func wantFault(t *testing.T, err error, kind codes.Code, reason string) *apierror.Error {
	t.Helper()
	failed := apierror.From(err)
	if failed == nil || failed.Kind != kind || failed.Reason != reason {
		t.Fatalf("got %v, want %v %s", err, kind, reason)
	}
	return failed
}

// state returns what is stored of users, sessions and rewards.
func (s *server) state(t testing.TB) (all []string) {
	t.Helper()
	users, err := s.ListUsers(t.Context(), &accountv1.ListUsersRequest{})
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range users.GetUsers() {
		rewards, err := s.ListRewards(t.Context(), &accountv1.ListRewardsRequest{UserId: u.GetUserId()})
		if err != nil {
			t.Fatal(err)
		}
		of := []string{fmt.Sprint(u)}
		for _, each := range rewards.GetRewards() {
			of = append(of, fmt.Sprint(each.GetSource(), " ", each.GetAmount()))
		}
		for _, each := range s.list(t, u.GetUserId()) {
			of = append(of, fmt.Sprint(each.GetSessionId(), " ", each.GetExpireTime().AsTime()))
		}
		slices.Sort(of[1:])
		all = append(all, of...)
	}
	return all
}
