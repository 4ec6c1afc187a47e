package account

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
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
	"github.com/waybook/waybook/internal/storetest"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	moveinv1 "github.com/waybook/waybook/proto/gen/waybook/movein/v1"
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

// failing is a bench on a store that fails over, and chooses by a seed.
type failing struct {
	*bench
	*rand.Rand
	cluster *storetest.Replica
}

func newFailing(t *testing.T, seed uint64) *failing {
	t.Helper()
	b := newBench(t)
	cluster := storetest.NewReplica(t, storetest.ReplicaSettings{Shards: 2, Now: b.clock})
	b.store = cluster
	return &failing{b, rand.New(rand.NewPCG(seed, 0)), cluster}
}

// newMortal returns a service in a process that crashes at one of its next writes, if it makes so many.
func (b *failing) newMortal(t *testing.T) *server {
	t.Helper()
	store, _ := storetest.NewMortal(b.cluster.Process(), b.IntN(12), storetest.Outcome(b.IntN(2) == 0))
	return (&bench{store: store, now: b.now}).newServer(t)
}

// isDone reports whether a call succeeded. It may fail only because the store did.
func isDone(t *testing.T, err error) bool {
	t.Helper()
	if err != nil && !errors.Is(err, docstore.ErrUnavailable) && !errors.Is(err, storetest.ErrBroken) {
		t.Error(err)
	}
	return err == nil
}

func TestGuessesDuringFailoversExceedNoLimit(t *testing.T) {
	limits := attemptLimits{pair: 2, client: 4, email: 3}
	storetest.Seeds(t, func(t *testing.T, seed uint64) {
		b := newFailing(t, seed)
		b.cluster.Trouble(seed)
		made := map[string]int64{}
		for range 5 + b.IntN(15) {
			s := b.newMortal(t)
			s.logins.limits = limits
			email, client := fmt.Sprint("email ", b.IntN(2)), fmt.Sprint("client ", b.IntN(2))
			err := s.logIn(t.Context(), email, "a wrong password", client)
			switch failed := apierror.From(err); failed.Reason {
			case "PASSWORD_INCORRECT":
				made[email]++
				made[client]++
				made[email+client]++
			case "TOO_MANY_ATTEMPTS":
			default:
				isDone(t, err)
			}
			if made[email] > limits.email || made[client] > limits.client || made[email+client] > limits.pair {
				t.Fatalf("these guesses were checked: %v", made)
			}
		}
	})
}

// reward stores rewards for a user, of the amounts 1 to count.
func (s *server) reward(t testing.TB, userID int64, count int) {
	t.Helper()
	rewards := make([]reward, count)
	for i := range rewards {
		rewards[i] = reward{ID: rewardID(userID, fmt.Sprint("blog/", i+1)), Amount: int64(i + 1)}
	}
	if err := s.rewards.Insert(t.Context(), rewards...); err != nil {
		t.Fatal(err)
	}
}

// grant grants a user a reward of 10 for each source.
func (s *server) grant(t testing.TB, user int64, sources ...string) error {
	request := &accountv1.GrantRewardsRequest{}
	for _, source := range sources {
		request.Grants = append(request.Grants, &accountv1.Grant{UserId: user, Source: source, Amount: 10})
	}
	_, err := s.GrantRewards(t.Context(), request)
	return err
}

// expectRewards checks the sum and the number of a user's rewards.
func (s *server) expectRewards(t testing.TB, user, wantTotal, wantCount int64) {
	t.Helper()
	request := &accountv1.ListRewardsRequest{UserId: user, PageSize: service.MaxPage}
	var total, count int64
	for isOver := false; !isOver; isOver = request.PageToken == "" {
		page, err := s.ListRewards(t.Context(), request)
		if err != nil {
			t.Fatal(err)
		}
		for _, each := range page.GetRewards() {
			total += each.GetAmount()
			count++
		}
		request.PageToken = page.GetNextPageToken()
	}
	if total != wantTotal || count != wantCount {
		t.Errorf("a total of %d in %d rewards, want %d in %d", total, count, wantTotal, wantCount)
	}
}

func TestRewardsAreListedByPagesAndThoseOfNoOtherUser(t *testing.T) {
	s := newBench(t).newServer(t)
	first, second := s.newUser(t, "", ""), s.newUser(t, "", "")
	const many = 2*service.MaxPage + 1
	s.reward(t, first, many)
	s.reward(t, second, 3)
	for _, neighbor := range []int64{first / 10, first * 10, first*10 + 9, first + 1} { // their ids begin alike
		s.reward(t, neighbor, 1)
	}
	s.expectRewards(t, first, many*(many+1)/2, many)
	s.expectRewards(t, second, 6, 3)
}

func TestAReadOfADeposedPrimaryLosesNoReward(t *testing.T) {
	b := newBench(t)
	cluster := storetest.NewReplica(t, storetest.ReplicaSettings{Now: b.clock})
	b.store = cluster
	late := b.newServer(t)
	cluster.Fail(storetest.Failover{StaleReads: 100})
	const user = 7
	s := (&bench{store: cluster.Process(), now: b.now}).newServer(t)
	s.wantResults(t, "INSERTED", &moveinv1.User{Id: user, Name: "x"})
	if err := late.grant(t, user, "blog/1"); err != nil {
		t.Fatal(err)
	}
	s.expectRewards(t, user, 10, 1)
}
