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

// newMarked returns a choice whose process crashed before it counted it.
func newMarked(parentID, userID int64, value int32) choices.Choice {
	return choices.Choice{ID: choices.IDOf(parentID, userID), ParentID: parentID, Wanted: value, Mark: choices.Marked}
}

func insertMarked(t testing.TB, c *counter, userID int64, value int32) {
	t.Helper()
	must(t, c.Choices.Insert(t.Context(), newMarked(voteID, userID, value)))
}

// insertMany stores choices of users, from 1 on, whose processes crashed before they counted them, or before they settled
// every third of them.
func insertMany(t testing.TB, c *counter, users int) {
	t.Helper()
	cast := make([]choices.Choice, users)
	for i := range cast {
		cast[i] = newMarked(voteID, int64(i+1), 1)
	}
	must(t, c.Choices.Insert(t.Context(), cast...))
	_, err := c.Parents.Documents.Update(t.Context(), voteID, func(v *vote) error {
		v.Numbers[0] += int64(users / 3)
		return nil
	})
	must(t, err)
}

// crashDuring lets a process crash in the middle of what it does.
func crashDuring(t testing.TB, engine docstore.Engine, writes int, do func(*counter) error) {
	t.Helper()
	store, _ := storetest.NewMortal(engine, writes, storetest.Happened)
	if err := do(openCounter(t, store)); !errors.Is(err, storetest.ErrBroken) {
		t.Errorf("got %v", err)
	}
}

// A process crashes at each write of a call, or of a sweep, in turn, which the store has done or not. Then others come, or
// nobody does but the sweep.
func TestACrashBetweenAnyTwoWritesLosesNoChoice(t *testing.T) {
	engine := newStore(t)
	before := map[string]func(t *testing.T, c *counter){
		"the first choice":               func(*testing.T, *counter) {},
		"a choice after crashes":         func(t *testing.T, c *counter) { insertMany(t, c, 20) },
		"a change of mind":               func(t *testing.T, c *counter) { put(t, c, voter, 3) },
		"a change of mind after a crash": func(t *testing.T, c *counter) { insertMarked(t, c, voter, 3) },
		"a choice during a count": func(t *testing.T, c *counter) {
			insertMany(t, c, 4)
			put(t, c, voter, 2)
			crashDuring(t, engine, 2, func(c *counter) error { return c.Sweep(t.Context()) })
		},
	}
	dies := map[string]func(t *testing.T, c *counter) error{
		"a call": func(t *testing.T, c *counter) error {
			_, err := c.Put(t.Context(), voteID, voter, choices.Always[vote](1))
			return err
		},
		"a sweep": func(t *testing.T, c *counter) error { return c.Sweep(t.Context()) },
	}
	after := map[string]func(t *testing.T, c *counter){
		"nobody comes":              func(*testing.T, *counter) {},
		"the user repeats the call": func(t *testing.T, c *counter) { put(t, c, voter, 1) },
		"the user wants another value": func(t *testing.T, c *counter) {
			if _, err := c.Put(t.Context(), voteID, voter, ballot(2)); err != nil && !errors.Is(err, errVoted) {
				t.Error(err)
			}
		},
		"the user withdraws": func(t *testing.T, c *counter) { put(t, c, voter, choices.None) },
		"another user comes": func(t *testing.T, c *counter) { put(t, c, another, 1) },
	}
	for state, prepare := range before {
		for who, die := range dies {
			for what, finish := range after {
				for _, outcome := range []storetest.Outcome{storetest.NotHappened, storetest.Happened} {
					for writes, isOver := 0, false; !isOver; writes++ {
						isOver = crashAt(t, engine, prepare, die, finish, writes, outcome)
						if t.Failed() {
							t.Fatalf("%s; %s dies after %d writes, the next of which has happened: %v; %s", state, who, writes, outcome, what)
						}
					}
				}
			}
		}
	}
}

// crashAt crashes a process after some writes. It reports whether the process was ready before.
func crashAt(
	t *testing.T, engine docstore.Engine, prepare func(*testing.T, *counter), die func(*testing.T, *counter) error, finish func(*testing.T, *counter),
	writes int, outcome storetest.Outcome,
) (isOver bool) {
	survivor := newCounter(t, engine)
	defer remove(t, survivor)
	prepare(t, survivor)
	store, process := storetest.NewMortal(engine, writes, outcome)
	if err := die(t, openCounter(t, store)); err != nil && !errors.Is(err, storetest.ErrBroken) {
		t.Error(err)
	}
	finish(t, survivor)
	must(t, survivor.Sweep(t.Context()))
	expectTidy(t, survivor)
	return !process.Died()
}

// remove removes a counter's vote, so that the store may be used again.
func remove(t testing.TB, c *counter) {
	t.Helper()
	must(t, c.RemoveAll(t.Context(), voteID))
	must(t, c.Parents.Documents.Delete(t.Context(), voteID))
}

func TestASweepCountsManyUnderEachParent(t *testing.T) {
	const users = 1200 // more than are read at a time
	votes := newCounter(t, newStore(t))
	insertMany(t, votes, users)
	// Choices whose parent is gone, before and after it, do not stop the others.
	for _, parentID := range []int64{voteID - 1, voteID + 1} {
		must(t, votes.Choices.Insert(t.Context(), newMarked(parentID, 1, 1)))
	}
	must(t, votes.Sweep(t.Context()))
	for _, parentID := range []int64{voteID - 1, voteID + 1} {
		must(t, votes.RemoveAll(t.Context(), parentID))
	}
	expectTidy(t, votes)
	if got := stored(t, votes).Numbers; got != (numbers{users}) {
		t.Errorf("numbers %v", got)
	}
}

func TestAParentThatCannotBeCountedDoesNotStopTheOthers(t *testing.T) {
	engine := newStore(t)
	votes := newCounter(t, engine)
	must(t, votes.Parents.Documents.Insert(t.Context(), vote{ID: voteID - 1}))
	must(t, votes.Choices.Insert(t.Context(), newMarked(voteID-1, 1, 1)))
	insertMany(t, votes, 1)
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
	if left := all(t, votes); len(left) != 1 || left[0].Mark == choices.Marked {
		t.Errorf("choices of the first parent: %+v", left)
	}
}

// A recount that another one has overtaken gives no mark an earlier round: the choice would not look as if it may be
// counted, and be counted once more.
func TestALateRecountGivesNoMarkAnEarlierRound(t *testing.T) {
	engine := newStore(t)
	votes := newCounter(t, engine)
	_, err := votes.Recount(t.Context(), voteID)
	must(t, err)
	crashDuring(t, engine, 1, func(c *counter) error {
		_, err := c.Put(t.Context(), voteID, 1, choices.Always[vote](1))
		return err
	})
	if got := stored(t, votes).Numbers; got != (numbers{1}) || all(t, votes)[0].Mark != choices.Marked {
		t.Fatalf("numbers %v, choices %+v", got, all(t, votes))
	}
	_, err = votes.Take(t.Context(), choices.IDOf(voteID, 1), 1)
	must(t, err)
	must(t, votes.Sweep(t.Context()))
	expectTidy(t, votes)
}
