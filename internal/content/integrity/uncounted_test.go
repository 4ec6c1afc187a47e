package integrity_test

import (
	"context"
	"testing"

	"github.com/waybook/waybook/internal/content/choices"
	"github.com/waybook/waybook/internal/content/integrity"
)

func TestAnUncountedChoiceIsFoundAndCounted(t *testing.T) {
	for name, leave := range map[string]func(w *world){
		"of a new user":        func(w *world) { w.crashedVote(10, 7, 2) },
		"that changed":         func(w *world) { w.changeVote(10, 2, 2, choices.Pending) },
		"that no sweep finds":  func(w *world) { w.changeVote(10, 1, 2, choices.Settled) },
		"that was withdrawn":   func(w *world) { w.changeVote(10, 2, choices.None, choices.Pending) },
		"in the last group":    func(w *world) { w.changeVote(10, 3, 2, choices.Pending) },
		"that cannot be valid": func(w *world) { w.crashedVote(10, 7, 3) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.addBox(10, 0, 3)
			w.addBox(20, 0, 0)
			leave(w)
			found := integrity.Finding{Kind: integrity.NotCounted, Collection: "choices", Count: 1, Parents: []int64{10}}
			expectFindings(t, w.check(integrity.Look), found)
			if name == "that cannot be valid" {
				expectFindings(t, w.check(integrity.Repair), found)
				return
			}
			found.Repaired = 1
			expectFindings(t, w.check(integrity.Repair), found)
			expectFindings(t, w.check(integrity.Look))
		})
	}
}

// changeVote changes a stored choice as a call does that then crashes.
func (w *world) changeVote(boxID, userID int64, value int32, pending int64) {
	w.t.Helper()
	for _, each := range w.contents()["choices"] {
		if choice := each.(choices.Choice); choice.ParentID == boxID && choice.UserID == userID {
			_, err := w.votes.Choices.Update(w.t.Context(), choice.ID, func(c *choices.Choice) error {
				c.Wanted, c.Pending = value, pending
				return nil
			})
			must(w.t, err)
		}
	}
}

func TestAChoiceThatIsCountedDuringTheCheckIsNotAFinding(t *testing.T) {
	for name, finish := range map[string]func(w *world){
		"its call goes on":        func(w *world) { w.vote(10, 7, 2) },
		"another call counts it":  func(w *world) { w.vote(10, 8, 2) },
		"a sweep counts it":       func(w *world) { must(w.t, w.votes.Sweep(w.t.Context())) },
		"its user changes it":     func(w *world) { w.changeVote(10, 7, 1, choices.Pending) },
		"its parent is deleted":   func(w *world) { must(w.t, w.boxes.DeleteBy(w.t.Context(), owner, 10)) },
		"its parent is swept too": func(w *world) { must(w.t, w.boxes.DeleteBy(w.t.Context(), owner, 10)); w.sweep() },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.addBox(10, 0, 2)
			w.crashedVote(10, 7, 2)
			w.votes.Patience = func(context.Context) error { finish(w); return nil }
			expectFindings(t, w.check(integrity.Look))
		})
	}
}
