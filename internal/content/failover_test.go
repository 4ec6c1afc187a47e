package content_test

import (
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/storetest"
)

// A process deletes a box and crashes or not, while sweepers run, primaries fall and others answer late.
// Then the box is there with everything, or nothing of it is.
func TestFailoversLeaveAllOrNothingOfADeletion(t *testing.T) {
	storetest.Seeds(t, func(t *testing.T, seed uint64) {
		random := rand.New(rand.NewPCG(seed, 0))
		clock := storetest.NewClock(shopOpens())
		store := storetest.NewReplica(t, storetest.ReplicaSettings{Shards: 1 + random.IntN(2), Now: clock.Now})
		w := newShop(t, store, clock)
		mortal, _ := storetest.NewMortal(store.Process(), random.IntN(2*leastWrites), storetest.Outcome(random.IntN(2) == 0))
		dying, sweeper := openWorld(t, mortal, w.now), openWorld(t, store.Process(), w.now)
		store.Trouble(seed)
		w.attempt(t, func() error { return dying.DeleteBy(t.Context(), owner, boxID, "") })
		for range 1 + random.IntN(6) {
			switch random.IntN(6) {
			case 0:
				clock.Advance(longerThanAnyCall)
			case 1:
				clock.Advance(time.Minute)
			case 2:
				w.attempt(t, func() error { return sweeper.DeleteBy(t.Context(), owner, boxID, "") })
			case 3:
				expectFailure(t, dying.Sweep(t.Context()))
			default:
				expectFailure(t, sweeper.Sweep(t.Context()))
			}
		}
		store.Settle()
		w.expectNothingHalf(t)
		must(t, sweeper.Sweep(t.Context()))
		w.expectAllOrNothing(t)
		clock.Advance(longerThanAnyCall)
		must(t, sweeper.Sweep(t.Context()))
		w.expectAllOrNothing(t)
	})
}

// attempt deletes the box. What was acknowledged holds.
func (w *shop) attempt(t *testing.T, deletion func() error) {
	t.Helper()
	err := deletion()
	w.mustBeGone = w.mustBeGone || err == nil
	if !isNotFound(err) {
		expectFailure(t, err)
	}
}

// expectFailure checks that a call failed because the store did, if it failed.
func expectFailure(t *testing.T, err error) {
	t.Helper()
	if err != nil && !errors.Is(err, docstore.ErrUnavailable) && !errors.Is(err, storetest.ErrBroken) {
		t.Error(err)
	}
}
