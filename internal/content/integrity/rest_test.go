package integrity_test

import (
	"math"
	"testing"

	"github.com/waybook/waybook/internal/content/integrity"
)

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
