package choices_test

import (
	"errors"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/waybook/waybook/internal/content/choices"
	"github.com/waybook/waybook/internal/storetest"
)

// Choices of an old service are inserted in batches, some of them twice, while users choose through another process, and
// writes fail. In the end each choice counts once, and so does each that moved in.
func TestChoicesThatMoveInCountOnceBesideThoseOfUsers(t *testing.T) {
	const users, rounds = 24, 40
	engine := newStore(t)
	first := newCounter(t, engine)
	unreliable, faults := newFlaky(engine)
	faults.set(0.2)
	inserting, voting := openCounter(t, unreliable), openCounter(t, unreliable)
	moved := make([]choices.MovedIn, users)
	for user := range moved {
		moved[user] = choices.MovedIn{ParentID: voteID, UserID: int64(user + 1), Value: int32(user%choiceCount + 1)}
	}
	var working sync.WaitGroup
	work := func(seed uint64, do func(random *rand.Rand) error) {
		working.Go(func() {
			random := rand.New(rand.NewPCG(seed, 0))
			for range rounds {
				if err := do(random); err != nil && !errors.Is(err, storetest.ErrBroken) {
					t.Error(err)
				}
			}
		})
	}
	for seed := range uint64(2) {
		work(seed, func(random *rand.Rand) error {
			begin := random.IntN(users - 4)
			_, err := inserting.Insert(t.Context(), moved[begin:begin+4], false)
			return err
		})
		work(seed+10, func(random *rand.Rand) error {
			_, err := voting.Put(t.Context(), voteID, random.Int64N(2*users)+1, choices.Always[vote](random.Int32N(choiceCount+1)))
			return err
		})
	}
	working.Wait()
	faults.set(0)
	if faults.failed == 0 {
		t.Error("no write failed")
	}
	there, err := first.Insert(t.Context(), moved, false)
	must(t, err)
	must(t, first.Sweep(t.Context()))
	expectTidy(t, first)
	if again, err := first.Insert(t.Context(), moved, false); err != nil || len(again) != users || len(there) > users {
		t.Errorf("%d and then %d of %d choices are there, %v", len(there), len(again), users, err)
	}
	var left numbers
	for _, choice := range all(t, first) {
		if choice.Moved != choices.None {
			left[choice.Moved-1]++
		}
	}
	if got := stored(t, first).Named; got != left {
		t.Errorf("%v moved in, want %v", got, left)
	}
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
