package choices_test

import (
	"context"
	"errors"
	"testing"

	"github.com/waybook/waybook/internal/content/choices"
	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/storetest"
)

const voter, another = 500, 501

// newPending returns a choice whose process crashed before it counted it.
func newPending(parentID, userID int64, value int32) choices.Choice {
	return choices.Choice{ID: choices.IDOf(parentID, userID), ParentID: parentID, Wanted: value, Pending: choices.Pending}
}

// insertPending stores choices of users, from 1 on, whose processes crashed before they
// counted them.
func insertPending(t tb, c *counter, users int) {
	t.Helper()
	cast := make([]choices.Choice, users)
	for i := range cast {
		cast[i] = newPending(voteID, int64(i+1), 1)
	}
	must(t, c.Choices.Insert(t.Context(), cast...))
}

// insertGroup stores choices that their parent has counted together, and that are not settled.
func insertGroup(t tb, c *counter, users int, more ...choices.Choice) {
	t.Helper()
	insertPending(t, c, users)
	must(t, c.Choices.Insert(t.Context(), more...))
	var ids []string
	for _, choice := range all(t, c) {
		ids = append(ids, choice.ID)
	}
	must(t, c.CountStored(t.Context(), voteID, ids...))
}

// expectCounted checks that the present choice of a user is counted.
func expectCounted(t tb, c *counter, userID int64) {
	t.Helper()
	parent := stored(t, c)
	for _, choice := range all(t, c) {
		if choice.UserID() == userID && parent.Mark.ValueOf(&choice) != choice.Wanted {
			t.Errorf("answered, and not counted: %+v", choice)
		}
	}
}

// A process crashes at each write of a call in turn, which the store has done or not. Then
// others come, or nobody does but the sweep.
func TestACrashBetweenAnyTwoWritesLosesNoChoice(t *testing.T) {
	before := map[string]func(t *testing.T, c *counter){
		"the first choice":                func(*testing.T, *counter) {},
		"a choice after a settled one":    func(t *testing.T, c *counter) { put(t, c, 1, 3); land(t, c) },
		"a choice after a group":          func(t *testing.T, c *counter) { insertGroup(t, c, 20) },
		"a choice after crashes":          func(t *testing.T, c *counter) { insertPending(t, c, 2*choices.MaxGroup) },
		"a change of mind":                func(t *testing.T, c *counter) { put(t, c, voter, 3); land(t, c) },
		"a change of mind within a group": func(t *testing.T, c *counter) { insertGroup(t, c, 20, newPending(voteID, voter, 3)) },
		"a change of mind after a crash":  func(t *testing.T, c *counter) { insertPendingOf(t, c, voter, 3) },
	}
	after := map[string]func(t *testing.T, c *counter){
		"nobody comes": func(t *testing.T, c *counter) {
			must(t, c.Sweep(t.Context()))
		},
		"the user repeats the call": func(t *testing.T, c *counter) { put(t, c, voter, 1) },
		"the user wants another value": func(t *testing.T, c *counter) {
			if _, err := c.Put(t.Context(), voteID, voter, ballot(2)); err != nil && !errors.Is(err, errVoted) {
				t.Error(err)
			}
		},
		"the user withdraws": func(t *testing.T, c *counter) {
			parent, counted := put(t, c, voter, choices.None), choices.None
			for _, choice := range all(t, c) {
				if choice.UserID() == voter {
					counted = parent.Mark.ValueOf(&choice)
				}
			}
			if counted != choices.None {
				t.Errorf("withdrawn, and counted as %d", counted)
			}
		},
		"another user comes": func(t *testing.T, c *counter) { put(t, c, another, 1) },
	}
	engine := newStore(t)
	for state, prepare := range before {
		for what, finish := range after {
			if what != "nobody comes" && state != "a choice after a group" && state != "a change of mind after a crash" {
				continue // a commit takes milliseconds on some disks
			}
			t.Run(state+", then "+what, func(t *testing.T) {
				for _, outcome := range []storetest.Outcome{storetest.NotHappened, storetest.Happened} {
					for writes, isOver := 0, false; !isOver; writes++ {
						isOver = crashAt(t, engine, prepare, finish, writes, outcome)
					}
				}
			})
		}
	}
}

// crashAt crashes a process after some writes of a call. It reports whether the call was over
// before.
func crashAt(t *testing.T, engine docstore.Engine, prepare, finish func(*testing.T, *counter), writes int, outcome storetest.Outcome) (isOver bool) {
	survivor := newCounter(t, engine)
	defer remove(t, survivor)
	prepare(t, survivor)
	store, process := storetest.NewMortal(engine, writes, outcome)
	dying := openCounter(t, store)
	_, err := dying.Put(t.Context(), voteID, voter, choices.Always[vote](1))
	land(t, dying)
	if err != nil && !errors.Is(err, storetest.ErrBroken) {
		t.Errorf("after %d writes: %v", writes, err)
	}
	if err == nil {
		expectCounted(t, survivor, voter)
	}
	finish(t, survivor)
	land(t, survivor)
	must(t, survivor.Sweep(t.Context()))
	expectSettled(t, survivor)
	if t.Failed() {
		t.Fatalf("after %d writes, the next of which has happened: %v", writes, outcome)
	}
	return !process.Died()
}

// remove removes a counter's vote, so that the store may be used again.
func remove(t tb, c *counter) {
	t.Helper()
	must(t, c.RemoveAll(t.Context(), voteID))
	must(t, c.Parents.Documents.Delete(t.Context(), voteID))
}

func insertPendingOf(t tb, c *counter, userID int64, value int32) {
	t.Helper()
	must(t, c.Choices.Insert(t.Context(), newPending(voteID, userID, value)))
}

func TestNobodyHasVotedBeforeTheBallotCounts(t *testing.T) {
	engine := newStore(t)
	votes := newCounter(t, engine)
	insertPendingOf(t, votes, voter, 3)
	if _, err := votes.Put(t.Context(), voteID, voter, ballot(1)); !errors.Is(err, errVoted) {
		t.Fatalf("got %v", err)
	}
	if got := stored(t, votes).Numbers; got != (numbers{0, 0, 1}) {
		t.Errorf("refused with numbers %v", got)
	}
	land(t, votes)
	// While a ballot cannot be counted, its voter learns just that.
	insertPendingOf(t, votes, another, 3)
	store, _ := storetest.NewMortal(engine, 0, storetest.NotHappened)
	if _, err := openCounter(t, store).Put(t.Context(), voteID, another, ballot(1)); !errors.Is(err, storetest.ErrBroken) || errors.Is(err, errVoted) {
		t.Errorf("got %v", err)
	}
}

func TestASweepCountsMoreThanAGroupUnderEachParent(t *testing.T) {
	votes := newCounter(t, newStore(t))
	insertPending(t, votes, 3*choices.MaxGroup+1)
	// Choices whose parent is gone, before and after it, do not stop the others.
	for _, parentID := range []int64{voteID - 1, voteID + 1} {
		must(t, votes.Choices.Insert(t.Context(), newPending(parentID, 1, 1)))
	}
	must(t, votes.Sweep(t.Context()))
	for _, parentID := range []int64{voteID - 1, voteID + 1} {
		must(t, votes.RemoveAll(t.Context(), parentID))
	}
	expectTidy(t, votes)
	if got := stored(t, votes).Numbers; got != (numbers{3*choices.MaxGroup + 1}) {
		t.Errorf("numbers %v", got)
	}
}

func TestAParentThatCannotBeCountedDoesNotStopTheOthers(t *testing.T) {
	engine := newStore(t)
	votes := newCounter(t, engine)
	must(t, votes.Parents.Documents.Insert(t.Context(), vote{ID: voteID - 1}))
	must(t, votes.Choices.Insert(t.Context(), newPending(voteID-1, 1, 1)))
	insertPending(t, votes, 1)
	hasFailed := false
	failing := openCounter(t, &storetest.Hooked{Engine: engine, Write: func(_ context.Context, call storetest.Call, do func() error) error {
		if call.Collection == "votes" && !hasFailed {
			hasFailed = true
			return storetest.ErrBroken
		}
		return do()
	}})
	if err := failing.Sweep(t.Context()); !errors.Is(err, storetest.ErrBroken) {
		t.Errorf("got %v", err)
	}
	if got := stored(t, votes).Numbers; got != (numbers{1}) {
		t.Errorf("numbers %v", got)
	}
	must(t, failing.Sweep(t.Context()))
	must(t, votes.RemoveAll(t.Context(), voteID))
	if left := all(t, votes); len(left) != 1 || left[0].Pending != choices.Settled {
		t.Errorf("choices of the first parent: %+v", left)
	}
}
