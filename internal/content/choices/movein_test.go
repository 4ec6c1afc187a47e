package choices_test

import (
	"testing"

	"github.com/waybook/waybook/internal/content/choices"
)

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
