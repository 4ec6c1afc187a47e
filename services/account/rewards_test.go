package account

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/platform/service"
	"github.com/waybook/waybook/internal/storetest"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
)

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

func TestRewardsAreListedByPagesAndThoseOfNoOtherUser(t *testing.T) {
	s := newBench(t).newServer(t)
	first, second := s.newUser(t, "", ""), s.newUser(t, "", "")
	const many = 2*service.MaxPage + 1
	s.reward(t, first, many)
	s.reward(t, second, 3)
	for _, neighbor := range []int64{first / 10, first * 10, first*10 + 9, first + 1} { // their ids begin alike
		s.reward(t, neighbor, 1)
	}
	for id, want := range map[int64]int64{first: many, second: 3} {
		if total, count := s.total(t, id); total != want*(want+1)/2 || count != want {
			t.Errorf("a total of %d in %d rewards, want %d rewards", total, count, want)
		}
	}
}

// grant grants a reward of 10 and returns the amount.
func (s *server) grant(t testing.TB, user int64, source string) int64 {
	t.Helper()
	reply, err := s.GrantReward(t.Context(), &accountv1.GrantRewardRequest{UserId: user, Source: source, Amount: 10})
	if err != nil {
		t.Fatal(err)
	}
	return reply.GetAmount()
}

// total returns the sum and the number of a user's rewards.
func (s *server) total(t testing.TB, user int64) (total, count int64) {
	t.Helper()
	request := &accountv1.ListRewardsRequest{UserId: user, PageSize: service.MaxPage}
	for {
		page, err := s.ListRewards(t.Context(), request)
		if err != nil {
			t.Fatal(err)
		}
		for _, each := range page.GetRewards() {
			total += each.GetAmount()
			count++
		}
		if request.PageToken = page.GetNextPageToken(); request.PageToken == "" {
			return total, count
		}
	}
}

func TestConcurrentRewardsOfADayAreLimitedExactly(t *testing.T) {
	const limit, sources, repeats = 10, 25, 3
	b := newBench(t)
	servers := []*server{b.newServerOf(t, Config{RewardsPerDay: limit}), b.newServerOf(t, Config{RewardsPerDay: limit})}
	user, other := servers[0].newUser(t, "", ""), servers[0].newUser(t, "", "")
	var amounts [sources][repeats]int64
	var group sync.WaitGroup
	for source := range sources {
		for i := range repeats {
			group.Go(func() { amounts[source][i] = servers[i%2].grant(t, user, fmt.Sprint("blog/", source)) })
		}
	}
	group.Wait()
	for source := range amounts {
		for _, amount := range amounts[source] {
			if amount != amounts[source][0] {
				t.Errorf("source %d got %v", source, amounts[source])
			}
		}
	}
	if total, count := servers[0].total(t, user); total != 10*limit || count != sources {
		t.Errorf("a total of %d in %d rewards, want %d in %d", total, count, 10*limit, sources)
	}
	if amount := servers[0].grant(t, other, "blog/1"); amount != 10 {
		t.Errorf("another user got %d", amount)
	}
}

func TestARewardBeyondTheDaysLimitStaysZeroAndTheNextDayIsNew(t *testing.T) {
	b := newBench(t) // at noon
	s := b.newServerOf(t, Config{RewardsPerDay: 2})
	user := s.newUser(t, "", "")
	for _, step := range []struct {
		after  time.Duration
		source string
		want   int64
	}{
		{0, "blog/1", 10}, {0, "blog/2", 10}, {0, "blog/3", 0}, {0, "blog/1", 10}, {0, "blog/3", 0},
		{12*time.Hour - time.Millisecond, "blog/4", 0},
		// At midnight of UTC. Repeats of earlier days take nothing from the new one.
		{time.Millisecond, "blog/3", 0}, {0, "blog/1", 10}, {0, "blog/4", 0},
		{0, "blog/5", 10}, {0, "blog/6", 10}, {0, "blog/7", 0},
	} {
		b.advance(step.after)
		if amount := s.grant(t, user, step.source); amount != step.want {
			t.Errorf("at %v, %s got %d, want %d", b.clock(), step.source, amount, step.want)
		}
		if err := s.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if total, count := s.total(t, user); total != 40 || count != 7 {
		t.Errorf("a total of %d in %d rewards", total, count)
	}
}

// TestACrashBetweenAnyTwoWritesOfARewardTakesNoOther crashes a process at each write in turn,
// which the store has done or not, and repeats the call.
func TestACrashBetweenAnyTwoWritesOfARewardTakesNoOther(t *testing.T) {
	const limit = 2
	for _, outcome := range []storetest.Outcome{storetest.NotHappened, storetest.Happened} {
		writes := 0
		for isOver := false; !isOver; writes++ {
			b := newBench(t)
			s := b.newServerOf(t, Config{RewardsPerDay: limit})
			user := s.newUser(t, "", "")
			store, process := storetest.NewMortal(b.store, writes, outcome)
			dying := (&bench{store: store, now: b.now}).newServerOf(t, Config{RewardsPerDay: limit})
			_, err := dying.GrantReward(t.Context(), &accountv1.GrantRewardRequest{UserId: user, Source: "blog/1", Amount: 10})
			if isOver = !process.Died(); isOver != (err == nil) {
				t.Errorf("after %d writes: %v", writes, err)
			}
			for n, want := range []int64{10, 10, 0} {
				if amount := s.grant(t, user, fmt.Sprint("blog/", n+1)); amount != want {
					t.Errorf("after %d writes: reward %d has the amount %d, want %d", writes, n+1, amount, want)
				}
			}
		}
		if writes != 3 { // the day, the reward, and no crash
			t.Errorf("%d rounds", writes)
		}
	}
}

func TestARewardThatWasAdmittedBeforeMidnightIsGrantedAfterIt(t *testing.T) {
	const limit = 2
	b := newBench(t)
	s := b.newServerOf(t, Config{RewardsPerDay: limit})
	user := s.newUser(t, "", "")
	b.advance(12*time.Hour - time.Second)
	store, _ := storetest.NewMortal(b.store, 1, storetest.NotHappened)
	dying := (&bench{store: store, now: b.now}).newServerOf(t, Config{RewardsPerDay: limit})
	_, err := dying.GrantReward(t.Context(), &accountv1.GrantRewardRequest{UserId: user, Source: "blog/1", Amount: 10})
	if !errors.Is(err, storetest.ErrBroken) {
		t.Fatalf("got %v", err)
	}
	for _, step := range []struct {
		after  time.Duration
		source string
		want   int64
	}{
		{2 * time.Hour, "blog/2", 10}, {0, "blog/3", 10}, {0, "blog/4", 0},
		// The last moment of the next day.
		{22*time.Hour + time.Second - time.Millisecond, "blog/1", 10}, {0, "blog/5", 0},
	} {
		b.advance(step.after)
		if err := s.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		if amount := s.grant(t, user, step.source); amount != step.want {
			t.Errorf("at %v, %s got %d, want %d", b.clock(), step.source, amount, step.want)
		}
	}
}

func BenchmarkPasswordHash(b *testing.B) {
	p := newPasswords()
	for b.Loop() {
		if _, err := p.hash(b.Context(), "correct horse"); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportAllocs()
}

// remote is a store that is reached over a network, so that calls go together.
type remote struct{ docstore.Engine }

func (remote) IsLocal() bool { return false }

func TestNoRewardStaysOfAUserWhoIsNotThere(t *testing.T) {
	b := newBench(t)
	const nobody = 7
	ctx, leave := context.WithCancel(t.Context())
	b.store = remote{&storetest.Hooked{Engine: b.store, Write: func(_ context.Context, call storetest.Call, do func() error) error {
		err := do()
		if call.Verb == "insert" {
			leave() // the caller does not wait for the rest
		}
		return err
	}}}
	s := b.newServer(t)
	for _, each := range []context.Context{ctx, t.Context()} {
		_, err := s.GrantReward(each, &accountv1.GrantRewardRequest{UserId: nobody, Source: "a", Amount: 10})
		wantFault(t, err, codes.NotFound, "USER_NOT_FOUND")
		if _, err := s.rewards.Get(t.Context(), rewardID(nobody, "a")); !errors.Is(err, docstore.ErrNotFound) {
			t.Errorf("the reward is there: %v", err)
		}
	}
	if ctx.Err() == nil {
		t.Error("no reward was stored before the user was known")
	}
}
