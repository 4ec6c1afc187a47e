package blog

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"

	"github.com/waybook/waybook/internal/content"
	"github.com/waybook/waybook/internal/content/profiles"
	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/docstore/embedded"
	"github.com/waybook/waybook/internal/platform/service"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// ledger is an account service that knows every user but one. As the contract says, it rewards each
// user once for the same source.
type ledger struct {
	accountv1.AccountServiceClient

	mu sync.Mutex
	// refuse, unless nil, runs first and may reject the rewards.
	refuse func(*accountv1.GrantRewardsRequest) error
	// granted, unless nil, runs after rewards are given and returns the error of the reply.
	granted func() error
	rewards map[int64]map[string]int64
	// unknown is the user who does not exist.
	unknown int64
}

func (l *ledger) BatchGetUsers(
	_ context.Context, request *accountv1.BatchGetUsersRequest, _ ...grpc.CallOption,
) (*accountv1.BatchGetUsersResponse, error) {
	reply := &accountv1.BatchGetUsersResponse{}
	for _, id := range request.GetUserIds() {
		if id == l.unknown {
			continue
		}
		reply.Users = append(reply.Users, &accountv1.User{UserId: id, Name: fmt.Sprint("user ", id)})
	}
	return reply, nil
}

func (l *ledger) GrantRewards(
	_ context.Context, request *accountv1.GrantRewardsRequest, _ ...grpc.CallOption,
) (*accountv1.GrantRewardsResponse, error) {
	if err := l.give(request); err != nil {
		return nil, err
	}
	if l.granted != nil {
		if err := l.granted(); err != nil {
			return nil, err
		}
	}
	return &accountv1.GrantRewardsResponse{}, nil
}

func (l *ledger) give(request *accountv1.GrantRewardsRequest) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.refuse != nil {
		if err := l.refuse(request); err != nil {
			return err
		}
	}
	for _, each := range request.GetGrants() {
		of := l.rewards[each.GetUserId()]
		if of == nil {
			of = map[string]int64{}
			l.rewards[each.GetUserId()] = of
		}
		if _, isThere := of[each.GetSource()]; !isThere {
			of[each.GetSource()] = each.GetAmount()
		}
	}
	return nil
}

// total returns the sum of a user's rewards.
func (l *ledger) total(user int64) int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	var sum int64
	for _, amount := range l.rewards[user] {
		sum += amount
	}
	return sum
}

// fixture is the service with its own store, on a clock that the test sets.
type fixture struct {
	*server
	t       *testing.T
	account *ledger
	deps    content.Deps
	time    time.Time
}

func newFixture(t *testing.T, config Config) *fixture {
	t.Helper()
	store, err := embedded.Open(t.Context(), filepath.Join(t.TempDir(), "store.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return newFixtureOn(t, store, config)
}

func newFixtureOn(t *testing.T, store docstore.Engine, config Config) *fixture {
	t.Helper()
	f := &fixture{
		t: t, account: &ledger{rewards: map[int64]map[string]int64{}},
		deps: content.Deps{Deps: service.NewDeps(store, slog.New(slog.DiscardHandler))},
		time: time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC),
	}
	f.deps.Now = func() time.Time { return f.time }
	f.deps.Account = f.account
	f.deps.Profiles = profiles.NewDirectory(f.account, f.deps.Log)
	opened, err := New(t.Context(), f.deps, config)
	if err != nil {
		t.Fatal(err)
	}
	f.server = opened.(*server)
	return f
}

// author is the author of the entries in most tests.
const author = 7

// newRequest returns a valid request for an entry.
func newRequest(author int64) *blogv1.CreateBlogRequest {
	return &blogv1.CreateBlogRequest{
		RequestId: "00000000-0000-4000-8000-000000000001",
		AuthorId:  author, Type: 1, Location: &typev1.Location{}, Title: "x", Content: "x", Weather: 1,
		PostDate: &typev1.Date{Year: 2026, Month: 5, Day: 1},
	}
}

// post posts an entry and returns its id.
func (f *fixture) post(ctx context.Context, request *blogv1.CreateBlogRequest) int64 {
	f.t.Helper()
	reply, err := f.CreateBlog(ctx, request)
	if err != nil {
		f.t.Fatal(err)
	}
	return reply.GetBlog().GetBlogId()
}

// due returns the number of entries in the index of those whose reward is due.
func (f *fixture) due() int64 {
	f.t.Helper()
	n, err := f.blogs.Documents.Count(f.t.Context(), byDue().All().Everywhere())
	if err != nil {
		f.t.Fatal(err)
	}
	return n
}

// stored returns the stored form of an entry.
func (f *fixture) stored(id int64) blog {
	f.t.Helper()
	found, err := f.blogs.Documents.Get(f.t.Context(), id)
	if err != nil {
		f.t.Fatal(err)
	}
	return found
}
