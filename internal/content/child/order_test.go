package child_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/waybook/waybook/internal/id"
	"github.com/waybook/waybook/internal/storetest"
)

// onClock returns a set as another process has it, whose clock is ahead.
func onClock(s *set, ahead time.Duration) *set {
	return &set{
		Parents: s.Parents, Children: s.Children, IDs: id.NewSource(func() time.Time { return time.Now().Add(ahead) }), Part: s.Part, Clock: s.Clock,
		Latest: s.Latest, LatestField: s.LatestField, ByParent: s.ByParent, ParentOf: s.ParentOf, Etag: s.Etag, NoChild: s.NoChild,
	}
}

// Processes whose clocks differ by up to ten minutes add items to one box, several at a time. An item that
// is added after another was there is behind it in the list.
func TestChildrenAreInTheOrderInWhichTheyWereAdded(t *testing.T) {
	s := newSet(t)
	const processes, writers, each = 3, 4, 10
	var mu sync.Mutex
	last, added := int64(0), map[int64]bool{}
	var writing sync.WaitGroup
	for range processes {
		process := onClock(s, time.Duration(rand.Int64N(int64(20*time.Minute)))-10*time.Minute)
		for w := range writers {
			writing.Go(func() {
				for n := range each {
					mu.Lock()
					before := last
					mu.Unlock()
					i, err := add(t, process, owner, "", fmt.Sprint(w, ".", n))
					mu.Lock()
					if err != nil || i.ID <= before || added[i.ID] {
						t.Errorf("item %d came after item %d: %v", i.ID, before, err)
					}
					last, added[i.ID] = max(last, i.ID), true
					mu.Unlock()
				}
			})
		}
	}
	writing.Wait()
	check(t, s, processes*writers*each)
}

// A child that was removed leaves its identifier taken, also for a process whose clock is behind.
func TestAnIdentifierOfARemovedChildIsNotGivenAgain(t *testing.T) {
	s := newSet(t)
	given := map[int64]bool{}
	for n := range 20 {
		process := onClock(s, -time.Duration(n)*time.Minute)
		i, err := add(t, process, owner, "", "short-lived")
		if err != nil || given[i.ID] {
			t.Fatalf("item %d again: %v", i.ID, err)
		}
		given[i.ID] = true
		if err := process.Remove(t.Context(), boxID, i.ID, "", func(*crate, *item) error { return nil }); err != nil {
			t.Fatal(err)
		}
	}
	check(t, s, 0)
}

// A call that ends while the store raises the highest id for another one returns at once.
func TestACallThatEndsDoesNotWaitForTheCallsOfOthers(t *testing.T) {
	raising, goOn := make(chan struct{}), make(chan struct{})
	store := &storetest.Hooked{}
	s := newSetOn(t, store)
	store.Write = func(_ context.Context, call storetest.Call, do func() error) error {
		if call.Verb == "update" {
			raising <- struct{}{}
			<-goOn
		}
		return do()
	}
	first := make(chan error)
	go func() {
		_, err := add(t, s, owner, "", "first")
		first <- err
	}()
	<-raising
	ending, end := context.WithCancel(t.Context())
	second := make(chan error)
	go func() {
		_, err := addIn(ending, s, owner, "", "second")
		second <- err
	}()
	end()
	if err := <-second; !errors.Is(err, context.Canceled) {
		t.Errorf("the call that ended: %v", err)
	}
	close(goOn)
	if err := <-first; err != nil {
		t.Error(err)
	}
	store.Write = nil
	check(t, s, 1)
}

// Rules 4.6 and 14.17: the time of an owner's change, which is in the etag, is that of the last one also where
// calls share their writes.
func TestAnAdditionThatWaitsForAnotherLeavesItsOwnTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		raising, goOn := make(chan struct{}), make(chan struct{})
		store := &storetest.Hooked{Engine: newFile(t)}
		s := cratesOn(t, store, time.Hour)
		store.Write = func(_ context.Context, call storetest.Call, do func() error) error {
			if call.Verb == "update" {
				raising <- struct{}{}
				<-goOn
			}
			return do()
		}
		var adding sync.WaitGroup
		for range 2 {
			time.Sleep(time.Second)
			adding.Go(func() {
				if _, err := put(t, s); err != nil {
					t.Error(err)
				}
			})
			synctest.Wait() // the first one is at its write, and the second one waits for it
		}
		for range 2 {
			<-raising
			goOn <- struct{}{}
		}
		adding.Wait()
		if is := parentOf(t, s).UpdateTime; !is.Equal(time.Now()) {
			t.Errorf("the last item was added at %v, and the box says %v", time.Now(), is)
		}
	})
}
