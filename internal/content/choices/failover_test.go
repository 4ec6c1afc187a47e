package choices_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/waybook/waybook/internal/content/choices"
	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/storetest"
)

// Users put their choices through processes that crash, while primaries fall and others answer late. In
// the end each choice that was acknowledged is counted, once.
func TestFailoversLeaveEachChoiceCountedOnce(t *testing.T) {
	const processes, users, steps = 3, 4, 20
	storetest.Seeds(t, func(t *testing.T, seed uint64) {
		random := rand.New(rand.NewPCG(seed, 0))
		store := storetest.NewReplica(t, storetest.ReplicaSettings{})
		survivor := newCounter(t, store)
		var running [processes]*counter
		var mortals [processes]*storetest.Mortal
		start := func(i int) {
			var mortal *storetest.Hooked
			mortal, mortals[i] = storetest.NewMortal(store.Process(), random.IntN(16), storetest.Outcome(random.IntN(2) == 0))
			running[i] = openCounter(t, mortal)
		}
		for i := range running {
			start(i)
		}
		// possible are the values that a user's choice may have, given what was acknowledged.
		var possible [users + 1][]int32
		for user := range possible {
			possible[user] = []int32{choices.None}
		}
		store.Trouble(seed)
		for range 1 + random.IntN(steps) {
			i := random.IntN(processes)
			if random.IntN(4) == 0 {
				expectFailure(t, running[i].Sweep(t.Context()))
			} else {
				user, value, decide := 1+random.IntN(users), random.Int32N(choiceCount+1), choices.Always[vote]
				if random.IntN(2) == 0 {
					decide = ballot
				}
				_, err := running[i].Put(t.Context(), voteID, int64(user), decide(value))
				switch {
				case err == nil:
					possible[user] = []int32{value}
				case !errors.Is(err, errVoted):
					expectFailure(t, err)
					possible[user] = append(possible[user], value)
				}
			}
			if mortals[i].Died() {
				start(i)
			}
		}
		store.Settle()
		must(t, survivor.Sweep(t.Context()))
		expectTidy(t, survivor)
		var values [users + 1]int32
		for _, choice := range all(t, survivor) {
			values[choice.UserID()] = choice.Wanted
		}
		for user := range possible {
			if !slices.Contains(possible[user], values[user]) {
				t.Errorf("user %d has %d, which is none of %v", user, values[user], possible[user])
			}
		}
	})
}

// expectFailure checks that a call failed because the store did, if it failed.
func expectFailure(t *testing.T, err error) {
	t.Helper()
	if err != nil && !errors.Is(err, docstore.ErrUnavailable) && !errors.Is(err, storetest.ErrBroken) {
		t.Error(err)
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
