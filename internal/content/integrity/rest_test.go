package integrity_test

import (
	"errors"
	"math"
	"strconv"
	"testing"

	"github.com/waybook/waybook/internal/content/integrity"
	"github.com/waybook/waybook/internal/id"
)

// A parent with thousands of children that changes between any two reads of them cannot be
// checked. The check says so and goes on.
func TestACheckOfAHotParentEnds(t *testing.T) {
	for mode, verb := range map[integrity.Mode]string{integrity.Look: "a look", integrity.Repair: "a repair"} {
		t.Run(verb, func(t *testing.T) {
			w := newWorld(t)
			w.addBox(10, 0, 0)
			w.addItems(10, 3000)
			w.addBox(20, 5, 1)
			w.tamper(20, func(b *box) { b.Items = 4 })
			w.tamper(10, func(b *box) { b.Items = 2999 })
			w.store.before("items", math.MaxInt, func() { w.tamper(10, func(b *box) { b.Numbers[0]++ }) })
			findings, err := w.items.Constraint().Check(t.Context(), mode, func(string, int64) {})
			must(t, err)
			low := integrity.Finding{Kind: integrity.LowCount, Collection: "boxes", Count: 1, Parents: []int64{20}}
			if mode == integrity.Repair {
				low.Repaired = 1
			}
			expectFindings(t, findings, low,
				integrity.Finding{Kind: integrity.Busy, Collection: "boxes", Count: 1, Parents: []int64{10}})
		})
	}
}

// Comments that arrive all the time are no reason to leave their entry unchecked.
func TestAParentToWhichChildrenAreAddedAllTheTimeIsChecked(t *testing.T) {
	w := newWorld(t)
	w.addBox(10, 0, 0)
	w.addItems(10, 3000)
	w.store.before("items", math.MaxInt, func() { w.addItem(10) })
	findings, err := w.items.Constraint().Check(t.Context(), integrity.Look, func(string, int64) {})
	must(t, err)
	expectFindings(t, findings)
}

// itemID returns an id for an item of a box.
func (w *world) itemID(boxID int64) int64 {
	w.t.Helper()
	drawn, err := w.items.IDs.Next(id.PlaceOf(boxID), 0, 0)
	must(w.t, err)
	return drawn
}

// addItems adds items to a box at once.
func (w *world) addItems(boxID int64, count int) {
	w.t.Helper()
	added := make([]item, count)
	for i := range added {
		added[i] = item{ID: w.itemID(boxID), BoxID: boxID}
		added[i].RequestKey = strconv.FormatInt(added[i].ID, 10)
	}
	errs, err := w.items.Children.InsertMany(w.t.Context(), added)
	must(w.t, errors.Join(append(errs, err)...))
	w.tamper(boxID, func(b *box) { b.Items += int64(count) })
}
