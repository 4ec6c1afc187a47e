package integrity_test

import (
	"math"
	"reflect"
	"sync"
	"testing"

	"github.com/waybook/waybook/internal/content/integrity"
)

func expectFindings(t *testing.T, got []integrity.Finding, want ...integrity.Finding) {
	t.Helper()
	if len(got) == 0 && len(want) == 0 {
		return
	}
	for i := range got {
		if got[i].Detail == "" {
			t.Errorf("%+v has no detail", got[i])
		}
		got[i].Detail = ""
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestAWrongTallyIsFoundAndNotRepaired(t *testing.T) {
	for name, damage := range map[string]func(w *world){
		"a number too high":                func(w *world) { w.tamper(10, func(b *box) { b.Numbers[1]++ }) },
		"a number too low":                 func(w *world) { w.tamper(10, func(b *box) { b.Numbers[0]-- }) },
		"a number without any choice":      func(w *world) { w.tamper(20, func(b *box) { b.Numbers[0]++ }) },
		"a choice that is lost":            func(w *world) { must(w.t, w.votes.RemoveAll(w.t.Context(), 10)) },
		"choices where nothing is offered": func(w *world) { w.tamper(10, func(b *box) { b.Numbers = nil }) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.addBox(10, 0, 3)
			w.addBox(20, 0, 0)
			damage(w)
			for _, mode := range []integrity.Mode{integrity.Look, integrity.Repair} {
				got := w.check(mode)
				if len(got) != 1 || got[0].Kind != integrity.WrongTally || got[0].Count != 1 || got[0].Repaired != 0 {
					t.Errorf("got %+v", got)
				}
			}
		})
	}
}

// The first pass of a check cannot know of writes before the second read.
func TestAWriteBetweenTwoReadsIsNotAFinding(t *testing.T) {
	for name, c := range map[string]struct {
		collection string
		times      int
		do         func(w *world)
	}{
		"an item is added":         {"items", 1, func(w *world) { w.addItem(10) }},
		"a user votes":             {"choices", 1, func(w *world) { w.vote(10, 9, 2) }},
		"two users vote each time": {"choices", 5, func(w *world) { w.vote(10, w.newUser(), 2); w.vote(10, w.newUser(), 2) }},
		"a box is added":           {"items", 1, func(w *world) { w.addBox(5, 1, 1); w.addBox(15, 1, 1) }},
		"a box is deleted":         {"items", 1, func(w *world) { must(w.t, w.boxes.DeleteBy(w.t.Context(), owner, 10, "")) }},
		"a deletion is over":       {"boxes", 3, func(w *world) { w.sweepBeforeThird() }},
	} {
		for mode, verb := range map[integrity.Mode]string{integrity.Look: " during a look", integrity.Repair: " during a repair"} {
			t.Run(name+verb, func(t *testing.T) {
				w := newWorld(t)
				w.addBox(10, 2, 2)
				w.addBox(20, 2, 2)
				must(t, w.boxes.DeleteBy(t.Context(), owner, 20, ""))
				w.store.before(c.collection, c.times, func() { c.do(w) })
				expectFindings(t, w.check(mode))
				if w.store.times != 0 {
					t.Errorf("%d of the writes did not happen", w.store.times)
				}
				expectFindings(t, w.check(integrity.Look))
			})
		}
	}
}

func TestACheckDuringWritesFindsNothing(t *testing.T) {
	w := newWorld(t)
	const writers, rounds = 4, 30
	for id := range int64(writers) {
		w.addBox(10*(id+1), 2, 2)
	}
	var writing sync.WaitGroup
	for n := range int64(writers) {
		writing.Go(func() {
			for round := range int64(rounds) {
				// Each writer writes to every shared box, and creates and deletes one of
				// its own.
				shared, own := 10*((n+round)%writers+1), 1000*(n+1)+round
				i := w.addItem(shared)
				w.vote(shared, 100+n, int32(round%3))
				w.addBox(own, 1, 1)
				if round%2 == 0 {
					w.removeItem(i)
				}
				if err := w.boxes.DeleteBy(t.Context(), owner, own, ""); err != nil {
					t.Error(err)
				}
			}
		})
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		writing.Wait()
	}()
	for isOver := false; !isOver; {
		select {
		case <-done:
			isOver = true
		default:
		}
		expectFindings(t, w.check(integrity.Repair))
	}
	expectFindings(t, w.check(integrity.Look))
}

// A parent with many choices that changes between any two reads of them cannot be
// checked. The check leaves it out and goes on.
func TestACheckOfAHotParentEnds(t *testing.T) {
	for mode, verb := range map[integrity.Mode]string{integrity.Look: "a look", integrity.Repair: "a repair"} {
		t.Run(verb, func(t *testing.T) {
			w := newWorld(t)
			w.addBox(10, 0, 150)
			w.addBox(20, 0, 3)
			w.tamper(20, func(b *box) { b.Numbers[0]++ })
			w.tamper(10, func(b *box) { b.Numbers[0]++ })
			w.store.before("choices", math.MaxInt, func() { w.tamper(10, func(b *box) { b.Latest++ }) })
			findings, err := w.votes.Constraint().Check(t.Context(), mode, func(int) {})
			must(t, err)
			expectFindings(t, findings,
				integrity.Finding{Kind: integrity.WrongTally, Collection: "boxes", Count: 1, Parents: []int64{20}})
		})
	}
}
