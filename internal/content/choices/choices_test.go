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

// A call whose parent is counted anew between its last two writes leaves its mark to the sweep.
func TestACallLeavesTheMarkThatASweepHasTaken(t *testing.T) {
	engine := newStore(t)
	votes := newCounter(t, engine)
	overtaken := openCounter(t, &storetest.Hooked{Engine: engine, Write: func(ctx context.Context, call storetest.Call, do func() error) error {
		err := do()
		if call.Collection == "votes" {
			_, counting := votes.Recount(ctx, voteID)
			err = errors.Join(err, counting)
		}
		return err
	}})
	put(t, overtaken, 1, 1)
	must(t, votes.Sweep(t.Context()))
	expectTidy(t, votes)
}

// While a parent is counted anew, nothing is added. A choice keeps its mark until a sweep counts it.
func TestAChoiceDuringACountIsLeftToASweep(t *testing.T) {
	votes := newCounter(t, newStore(t))
	_, err := votes.Parents.Documents.Update(t.Context(), voteID, func(v *vote) error { v.Round = 1; return nil })
	must(t, err)
	if got := put(t, votes, 1, 1).Numbers; got != (numbers{}) || all(t, votes)[0].Mark != choices.Marked {
		t.Errorf("numbers %v, choices %+v", got, all(t, votes))
	}
	must(t, votes.Sweep(t.Context()))
	expectTidy(t, votes)
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
