package choices_test

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/waybook/waybook/internal/content/choices"
	"github.com/waybook/waybook/internal/content/profiles"
	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/platform/apierror"
	"github.com/waybook/waybook/internal/storetest"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
)

// Users change their choices concurrently, each in one of the processes. A share of the store's writes fail before or
// after they are done. Sweeps run all the time: they have no patience, and take calls for ended that go on. The last one
// counts what is left.
func TestNumbersAreExactWhenSeveralProcessesCountAndWritesFail(t *testing.T) {
	const users, rounds = 24, 15
	engine := newStore(t)
	first := newCounter(t, engine)
	unreliable, faults := newFlaky(engine)
	faults.set(0.2)
	running := []*counter{openCounter(t, unreliable), openCounter(t, unreliable), openCounter(t, unreliable)}
	var voting, sweeping sync.WaitGroup
	for user := range users {
		voting.Go(func() {
			random := rand.New(rand.NewPCG(1, uint64(user)))
			for range rounds {
				_, err := running[user%len(running)].Put(t.Context(), voteID, int64(user+1), choices.Always[vote](random.Int32N(choiceCount+1)))
				if err != nil && !errors.Is(err, storetest.ErrBroken) {
					t.Error(err)
				}
			}
		})
	}
	over, stop := context.WithCancel(t.Context())
	sweeping.Go(func() {
		for over.Err() == nil {
			if err := running[0].Sweep(t.Context()); err != nil && !errors.Is(err, storetest.ErrBroken) {
				t.Error(err)
			}
		}
	})
	voting.Wait()
	stop()
	sweeping.Wait()
	faults.set(0)
	must(t, first.Sweep(t.Context()))
	expectTidy(t, first)
	if faults.failed == 0 {
		t.Error("no write failed")
	}
}

func TestWithdrawingWithoutAChoiceStoresNothing(t *testing.T) {
	votes := newCounter(t, newStore(t))
	put(t, votes, 1, choices.None)
	if n, err := votes.Choices.Count(t.Context(), docstore.All(docstore.IDIndex).Everywhere()); err != nil || n != 0 {
		t.Errorf("%d choices, %v", n, err)
	}
	if _, err := votes.Put(t.Context(), 8, 1, choices.Always[vote](1)); !errors.As(err, new(*apierror.Error)) {
		t.Errorf("an unknown parent: %v", err)
	}
}

func TestADeletedParentIsNotCounted(t *testing.T) {
	engine := newStore(t)
	votes := newCounter(t, engine)
	isDeleting := true
	// The parent goes after the call has read it.
	dying := openCounter(t, &storetest.Hooked{Engine: engine, Write: func(ctx context.Context, call storetest.Call, do func() error) error {
		if call.Collection == "votes" && isDeleting {
			isDeleting = false
			if err := votes.Parents.Documents.Delete(ctx, voteID); err != nil {
				return err
			}
		}
		return do()
	}})
	if _, err := dying.Put(t.Context(), voteID, 1, choices.Always[vote](1)); !errors.As(err, new(*apierror.Error)) {
		t.Errorf("got %v", err)
	}
	must(t, votes.Sweep(t.Context()))
	// The choice is left for the tombstone's sweep.
	if found := all(t, votes); len(found) != 1 || found[0].Mark != choices.Marked {
		t.Errorf("choices %+v", found)
	}
	must(t, votes.RemoveAll(t.Context(), voteID))
	if found := all(t, votes); len(found) != 0 {
		t.Errorf("choices %+v", found)
	}
}

// A caller who leaves after the choice is stored leaves nothing to a sweep.
func TestAChoiceIsCountedWhoeverLeaves(t *testing.T) {
	engine := newStore(t)
	votes := newCounter(t, engine)
	ctx, leave := context.WithCancel(t.Context())
	left := openCounter(t, &storetest.Hooked{Engine: engine, Write: func(_ context.Context, call storetest.Call, do func() error) error {
		if call.Collection == "votes" {
			leave()
		}
		return do()
	}})
	if _, err := left.Put(ctx, voteID, 1, choices.Always[vote](1)); err != nil {
		t.Error(err)
	}
	expectTidy(t, votes)
}

// While the call of a choice may go on, a sweep leaves it alone, and another call for the same choice waits for it.
func TestAChoiceIsCountedByItsCallAsLongAsThatGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine := newStore(t)
		votes := newCounter(t, engine)
		slow := openCounter(t, &storetest.Hooked{Engine: engine, Write: func(ctx context.Context, call storetest.Call, do func() error) error {
			if call.Collection == "votes" {
				time.Sleep(time.Second / 5)
			}
			return do()
		}})
		votes.Patience, slow.Patience = 2*time.Second, 2*time.Second
		var calls sync.WaitGroup
		calls.Go(func() { put(t, slow, 1, 1) })
		synctest.Wait()
		calls.Go(func() { must(t, votes.Sweep(t.Context())) })
		if got := put(t, votes, 1, 1).Numbers; got != (numbers{1}) {
			t.Errorf("numbers %v", got)
		}
		calls.Wait()
		if round := stored(t, votes).Round; round != 0 {
			t.Errorf("counted anew: round %d", round)
		}
		expectTidy(t, votes)
	})
}

// Who asks for a value again that was changed since must not learn from an old read that it is there.
func TestAChoiceIsDecidedOnTheLatestOne(t *testing.T) {
	store := storetest.NewReplica(t, storetest.ReplicaSettings{})
	votes := newCounter(t, store)
	put(t, votes, voter, 1)
	late := openCounter(t, store.Process())
	store.Remember(0)
	put(t, votes, voter, 2)
	store.Fail(storetest.Failover{LateReads: 4})
	put(t, late, voter, 1)
	store.Settle()
	if got := stored(t, votes).Numbers; got != (numbers{1}) {
		t.Errorf("the numbers are %v", got)
	}
}

// A primary that was elected just now shows what a majority had before, unless the read asks for what was acknowledged.
func TestACountSeesWhatWasStoredBeforeIt(t *testing.T) {
	store := storetest.NewReplica(t, storetest.ReplicaSettings{})
	votes := newCounter(t, store)
	put(t, votes, voter, 2)
	store.Remember(0)
	put(t, votes, voter, 1)
	put(t, votes, another, 1)
	hasFailed := false
	late := openCounter(t, &storetest.Hooked{Engine: store.Process(), Read: func(_ context.Context, call storetest.Call, do func() error) error {
		if call.Collection == "choices" {
			hasFailed = true
			store.Fail(storetest.Failover{LateReads: 1})
			defer store.Settle()
		}
		return do()
	}})
	_, err := late.Recount(t.Context(), voteID)
	must(t, err)
	if got := stored(t, votes).Numbers; got != (numbers{2}) || !hasFailed {
		t.Errorf("numbers %v, has failed: %v", got, hasFailed)
	}
	expectTidy(t, votes)
}

// A choice that moves in while its parent is counted anew is left to a sweep, with both of its numbers.
func TestAChoiceThatMovesInDuringACountIsCountedByASweep(t *testing.T) {
	for name, c := range map[string]struct{ round, read int64 }{"a count is over": {2, 0}, "a count goes on": {1, 1}} {
		t.Run(name, func(t *testing.T) {
			votes := newCounter(t, newStore(t))
			_, err := votes.Parents.Documents.Update(t.Context(), voteID, func(v *vote) error { v.Round = c.round; return nil })
			must(t, err)
			there, err := votes.Insert(t.Context(), []choices.MovedIn{{ParentID: voteID, UserID: 1, Round: c.read, Value: 2}}, false)
			if must(t, err); len(there) > 0 {
				t.Errorf("%+v are there", there)
			}
			if got := stored(t, votes); got.Numbers != (numbers{}) || got.Named != (numbers{}) {
				t.Errorf("counted in another round: %+v", got)
			}
			must(t, votes.Sweep(t.Context()))
			expectTidy(t, votes)
			if got := stored(t, votes); got.Numbers != (numbers{0, 1}) || got.Named != (numbers{0, 1}) {
				t.Errorf("after the sweep: %+v", got)
			}
		})
	}
}

// flaky makes a share of the writes of a store fail, half of them after they were done.
type flaky struct {
	mu      sync.Mutex
	failing float64
	failed  int
}

func newFlaky(engine docstore.Engine) (*storetest.Hooked, *flaky) {
	f := &flaky{}
	return &storetest.Hooked{Engine: engine, Write: f.write}, f
}

func (f *flaky) set(share float64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.failing = share
}

func (f *flaky) write(_ context.Context, _ storetest.Call, do func() error) error {
	f.mu.Lock()
	drawn, failing := rand.Float64(), f.failing
	if drawn < failing {
		f.failed++
	}
	f.mu.Unlock()
	switch {
	case drawn >= failing:
		return do()
	case drawn < failing/2:
		return errors.Join(do(), storetest.ErrBroken)
	}
	return storetest.ErrBroken
}

// hiding is an account service that hides one user.
type hiding struct {
	accountv1.AccountServiceClient
	user int64
}

func (h hiding) ListHiddenUsers(
	context.Context, *accountv1.ListHiddenUsersRequest, ...grpc.CallOption,
) (*accountv1.ListHiddenUsersResponse, error) {
	return &accountv1.ListHiddenUsersResponse{UserIds: []int64{h.user}}, nil
}

func TestASweepCountsTheChoicesUnderWhatAHiddenUserOwns(t *testing.T) {
	const owner = 1
	votes := newCounter(t, newStore(t))
	_, err := votes.Parents.Documents.Update(t.Context(), voteID, func(v *vote) error { v.Round = 1; return nil })
	must(t, err)
	put(t, votes, 1, 1)
	votes.Parents.Owner = func(*vote) int64 { return owner }
	votes.Parents.Hidden = profiles.NewHidden(hiding{user: owner}, slog.New(slog.DiscardHandler), time.Now)
	if _, err := votes.Put(t.Context(), voteID, 2, choices.Always[vote](1)); status.Code(err) != codes.NotFound {
		t.Errorf("a choice under what is hidden: %v", err)
	}
	must(t, votes.Sweep(t.Context()))
	votes.Parents.Hidden = nil
	expectTidy(t, votes)
}
