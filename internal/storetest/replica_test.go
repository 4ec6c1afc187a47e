package storetest_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/id"
	"github.com/waybook/waybook/internal/storetest"
)

type note struct {
	ID   int64  `bson:"_id"`
	Text string `bson:"text"`
}

type notes = docstore.Collection[int64, note]

// settling is short, because tests wait for it.
const settling = 10 * time.Millisecond

func openNotes(t testing.TB, store docstore.Engine) *notes {
	t.Helper()
	c, err := docstore.Open[int64, note](t.Context(), store, docstore.Spec{
		Name: "notes", ID: docstore.Int64, Sharding: docstore.ByPlace, Scheme: id.Scheme{}, Tombstones: true, Feed: &docstore.Feed{Settling: settling},
	})
	must(t, err)
	return c
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// expect checks which notes a read shows.
func expect(t *testing.T, what string, got []int64, want ...int64) {
	t.Helper()
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("%s shows %v, want %v", what, got, want)
	}
}

var keys = []int64{1, 2, 3, 4}

func idsOf(t *testing.T, found []note, err error) (ids []int64) {
	t.Helper()
	must(t, err)
	for _, each := range found {
		ids = append(ids, each.ID)
	}
	return ids
}

// shown returns the notes that Get finds.
func shown(t *testing.T, c *notes, as docstore.Consistency) (ids []int64) {
	t.Helper()
	for _, key := range keys {
		switch _, err := c.Get(t.Context(), key, as); {
		case err == nil:
			ids = append(ids, key)
		case !errors.Is(err, docstore.ErrNotFound):
			t.Error(err)
		}
	}
	return ids
}

func locally(t *testing.T, c *notes) []int64 {
	t.Helper()
	found, err := c.GetMany(t.Context(), keys)
	return idsOf(t, found, err)
}

func durably(t *testing.T, c *notes) []int64 {
	t.Helper()
	found, err := c.GetMany(t.Context(), keys, docstore.Durable)
	page, pageErr := c.Page(t.Context(), docstore.Query{Where: docstore.All(docstore.IDIndex).Everywhere(), Limit: len(keys), As: docstore.Durable})
	all := idsOf(t, found, err)
	if paged := idsOf(t, page.Documents, pageErr); !slices.Equal(paged, all) {
		t.Errorf("GetMany returned %v, and a durable page had %v", all, paged)
	}
	return all
}

func expectUnavailable(t *testing.T, err error) {
	t.Helper()
	if !errors.Is(err, docstore.ErrUnavailable) {
		t.Errorf("got %v", err)
	}
}

func TestAFailoverRollsBackWhatOnlyThePrimaryHas(t *testing.T) {
	r := storetest.NewReplica(t, storetest.ReplicaSettings{})
	c := openNotes(t, r)
	must(t, c.Insert(t.Context(), note{ID: 1}))
	r.Hold(0)
	for _, key := range keys[1:] {
		expectUnavailable(t, c.Insert(t.Context(), note{ID: key}))
	}
	_, err := c.Get(t.Context(), 1, docstore.Linearizable)
	expectUnavailable(t, err)
	expect(t, "the primary", locally(t, c), 1, 2, 3, 4)
	expect(t, "the majority", durably(t, c), 1)
	r.Fail(storetest.Failover{Replicated: 1, StaleReads: 1})
	expect(t, "the majority", durably(t, c), 1, 2)
	expect(t, "a linearizable read", shown(t, c, docstore.Linearizable), 1, 2)
	expect(t, "the new primary", locally(t, c), 1, 2)
	other := openNotes(t, r.Process())
	expect(t, "the deposed primary", locally(t, other), 1, 2, 3, 4)
	expect(t, "the new primary", locally(t, other), 1, 2)
	must(t, c.Insert(t.Context(), note{ID: 3}))
	expect(t, "the majority", durably(t, c), 1, 2, 3)
}

func TestADeposedPrimaryLacksWhatTheNewOneWrites(t *testing.T) {
	clock := storetest.NewClock(time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC))
	r := storetest.NewReplica(t, storetest.ReplicaSettings{Now: clock.Now})
	c := openNotes(t, r)
	r.Fail(storetest.Failover{StaleReads: 100})
	must(t, c.Insert(t.Context(), note{ID: 1}))
	expect(t, "the new primary", shown(t, c, docstore.Present), 1)
	other := openNotes(t, r.Process())
	recent := docstore.Recent(time.Minute)
	expect(t, "a recent read of the deposed primary", shown(t, other, recent))
	clock.Advance(time.Minute)
	expect(t, "the deposed primary", shown(t, other, docstore.Present))
	expect(t, "a recent read", shown(t, other, recent), 1)
	expect(t, "the new primary", shown(t, other, docstore.Present), 1)
}

func TestAWriteThatWaitsIsDoneWhereverThePrimaryIs(t *testing.T) {
	for name, end := range map[string]func(*storetest.Replica){
		"replication goes on": func(r *storetest.Replica) { r.Resume(0) },
		"a failover without":  func(r *storetest.Replica) { r.Fail(storetest.Failover{}) },
		"a failover with it":  func(r *storetest.Replica) { r.Fail(storetest.Failover{Replicated: 1}) },
	} {
		t.Run(name, func(t *testing.T) {
			r := storetest.NewReplica(t, storetest.ReplicaSettings{HeldCallsWait: true})
			c := openNotes(t, r)
			r.Hold(0)
			gone, leave := context.WithCancel(t.Context())
			leave()
			if err := c.Insert(gone, note{ID: 2}); !errors.Is(err, context.Canceled) {
				t.Errorf("got %v", err)
			}
			done := make(chan error)
			go func() { done <- c.Insert(t.Context(), note{ID: 1}) }()
			for len(locally(t, c)) == 0 {
				time.Sleep(time.Millisecond)
			}
			expect(t, "the majority", durably(t, c))
			end(r)
			must(t, <-done)
			expect(t, "the majority", durably(t, c), 1)
		})
	}
}

// Two states may have the same revision: one that was rolled back, and one that took its place.
func TestAfterAFailoverADurableReadMayBeLate(t *testing.T) {
	r := storetest.NewReplica(t, storetest.ReplicaSettings{})
	c := openNotes(t, r)
	must(t, c.Insert(t.Context(), note{ID: 1}))
	r.Remember(0)
	must(t, c.Insert(t.Context(), note{ID: 2}))
	r.Fail(storetest.Failover{LateReads: 4}) // durably makes two reads
	for _, want := range [][]int64{{1}, {1}, {1, 2}} {
		if got := durably(t, c); !slices.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
	}
	r.Fail(storetest.Failover{LateReads: 9})
	must(t, c.Insert(t.Context(), note{ID: 3}))
	if got := durably(t, c); !slices.Equal(got, []int64{1, 2, 3}) {
		t.Errorf("after a write: %v", got)
	}
}

func TestEachShardFailsByItself(t *testing.T) {
	r := storetest.NewReplica(t, storetest.ReplicaSettings{Shards: 2})
	c := openNotes(t, r)
	r.Hold(1)
	for _, key := range keys {
		if err := c.Insert(t.Context(), note{ID: key}); errors.Is(err, docstore.ErrUnavailable) != (int(id.PlaceOf(key))%2 == 1) {
			t.Errorf("place %d: %v", id.PlaceOf(key), err)
		}
	}
	expect(t, "the majority", durably(t, c), 2, 4)
	expect(t, "the primaries", locally(t, c), 1, 2, 3, 4)
	r.Fail(storetest.Failover{Shard: 1})
	expect(t, "the primaries", locally(t, c), 2, 4)
}

// A follower sees what is durable, once, in the order of stamps, although the clock of each new primary is
// an hour behind.
func TestAFollowerSeesWhatFailoversLeave(t *testing.T) {
	for shards := range 2 {
		r := storetest.NewReplica(t, storetest.ReplicaSettings{Shards: shards + 1})
		c, f := openNotes(t, r), &follower{}
		must(t, c.Insert(t.Context(), note{ID: 1}))
		f.follow(t, c, 1)
		r.Hold(shards)
		for _, key := range []int64{3, 5} {
			expectUnavailable(t, c.Insert(t.Context(), note{ID: key}))
		}
		f.follow(t, c)
		r.Fail(storetest.Failover{Shard: shards, Replicated: 1, ClockStep: -time.Hour})
		must(t, c.Insert(t.Context(), note{ID: 7}))
		f.follow(t, c, 3, 7)
		r.Fail(storetest.Failover{Shard: shards, ClockStep: -time.Hour})
		must(t, c.Insert(t.Context(), note{ID: 9}))
		must(t, c.Insert(t.Context(), note{ID: 10}))
		f.follow(t, c, 9, 10)
	}
}

// What only the primary has is not listed.
func TestAFollowerMissesNothingWhileReplicationIsHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := storetest.NewReplica(t, storetest.ReplicaSettings{})
		c, f := openNotes(t, r), &follower{}
		must(t, c.Insert(t.Context(), note{ID: 1}))
		f.follow(t, c, 1)
		go func() {
			synctest.Wait()
			r.Hold(0)
			for _, text := range []string{"replicated", "lost", "lost, too"} {
				_, err := c.Modify(t.Context(), 1, docstore.Edit{Set: map[string]any{"text": text}})
				expectUnavailable(t, err)
			}
		}()
		f.follow(t, c)
		r.Fail(storetest.Failover{Replicated: 1})
		f.follow(t, c, 1)
	})
}

type follower struct {
	token string
	last  time.Time
}

// follow lists changes until it has those that are expected. If there are none, it waits for them for a while. Changes that
// are listed again do not count.
func (f *follower) follow(t *testing.T, c *notes, want ...int64) {
	t.Helper()
	var got []int64
	patience := time.Now().Add(5 * settling)
	if len(want) > 0 {
		patience = time.Now().Add(time.Minute)
	}
	for len(got) < max(len(want), 1) && time.Now().Before(patience) {
		page, err := c.Changes(t.Context(), docstore.ChangesQuery{Token: f.token, Limit: 10})
		must(t, err)
		for _, change := range page.Changes {
			if change.Time.After(f.last) {
				got, f.last = append(got, change.ID), change.Time
			}
		}
		f.token = page.Next
		time.Sleep(settling / 10)
	}
	expect(t, "the changes", got, want...)
}

func TestASeedRepeatsItsEvents(t *testing.T) {
	run := func(seed uint64) (outcomes []string) {
		r := storetest.NewReplica(t, storetest.ReplicaSettings{Shards: 2})
		c := openNotes(t, r)
		r.Trouble(seed)
		for i := range int64(200) {
			err := c.Insert(t.Context(), note{ID: i})
			_, missing := c.Get(t.Context(), i/2)
			outcomes = append(outcomes, fmt.Sprint(err, missing))
		}
		r.Settle()
		return append(outcomes, r.Events()...)
	}
	if first := run(1); !reflect.DeepEqual(first, run(1)) || reflect.DeepEqual(first, run(2)) {
		t.Error("the events do not depend on the seed alone")
	}
}

// What was acknowledged stays, and is there once.
func TestNoTroubleLosesWhatWasAcknowledged(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		r := storetest.NewReplica(t, storetest.ReplicaSettings{Shards: 1 + int(seed%2)})
		c := openNotes(t, r)
		r.Trouble(seed)
		acknowledged := map[int64]bool{}
		for i := range int64(40) {
			var duplicate *docstore.DuplicateError
			switch err := c.Insert(t.Context(), note{ID: i}); {
			case err == nil:
				acknowledged[i] = true
			case !errors.Is(err, docstore.ErrUnavailable) && !errors.As(err, &duplicate):
				t.Fatal(err)
			}
			for key := range acknowledged {
				if _, err := c.Get(t.Context(), key, docstore.Linearizable); err != nil && !errors.Is(err, docstore.ErrUnavailable) {
					t.Fatalf("seed %d: %d was acknowledged: %v", seed, key, err)
				}
			}
		}
		r.Settle()
		if n, err := c.Count(t.Context(), docstore.All(docstore.IDIndex).Everywhere()); err != nil || n < int64(len(acknowledged)) {
			t.Errorf("seed %d: %d of %d, %v", seed, n, len(acknowledged), err)
		}
	}
}
