package content_test

import (
	"errors"
	"testing"
	"time"

	"github.com/waybook/waybook/internal/content/integrity"
	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/platform/apierror"
	"github.com/waybook/waybook/internal/storetest"
	commentv1 "github.com/waybook/waybook/proto/gen/waybook/comment/v1"
)

// neighbourID is a box of the same owner that nobody deletes.
const neighbourID = boxID + 1

// A process crashes at each write of a deletion and its sweeps in turn, which the store has
// done or not. Then the owner repeats the deletion, or nobody comes but the sweeper.
func TestACrashBetweenAnyTwoWritesOfADeletionLeavesAllOrNothing(t *testing.T) {
	before := map[string]func(t *testing.T, w *shop){
		"the first deletion":                   func(*testing.T, *shop) {},
		"a deletion while no sweeper ran long": func(_ *testing.T, w *shop) { w.sweepsLate = true },
	}
	after := map[string]func(t *testing.T, w *shop){
		"nobody comes": func(*testing.T, *shop) {},
		"the owner repeats the call": func(t *testing.T, w *shop) {
			if err := w.DeleteBy(t.Context(), owner, boxID, ""); err != nil && !isNotFound(err) {
				t.Error(err)
			}
			w.mustBeGone = true
		},
	}
	for state, prepare := range before {
		for what, finish := range after {
			t.Run(state+", then "+what, func(t *testing.T) {
				clock := storetest.NewClock(shopOpens())
				engine := newStore(t, clock.Now)
				for _, outcome := range []storetest.Outcome{storetest.NotHappened, storetest.Happened} {
					for writes, isOver := 0, false; !isOver; writes++ {
						isOver = crashAt(t, newShop(t, engine, clock), prepare, finish, writes, outcome)
						if t.Failed() {
							t.Fatalf("after %d writes, the next of which has happened: %v", writes, outcome)
						}
					}
				}
			})
		}
	}
}

// crashAt crashes a process after some writes. It reports whether the process was done before.
func crashAt(t *testing.T, w *shop, prepare, finish func(*testing.T, *shop), writes int, outcome storetest.Outcome) (isOver bool) {
	prepare(t, w)
	store, process := storetest.NewMortal(w.engine, writes, outcome)
	dying := openWorld(t, store, w.now)
	err := dying.DeleteBy(t.Context(), owner, boxID, "")
	switch {
	case err == nil:
		w.mustBeGone = true
		if !w.sweepsLate {
			err = dying.Sweep(t.Context())
		}
		w.wait(longerThanAnyCall)
		err = errors.Join(err, dying.Sweep(t.Context()))
	case writes >= deletionWrites:
		t.Errorf("the deletion failed after %d writes: %v", writes, err)
	}
	if err != nil && !errors.Is(err, storetest.ErrBroken) {
		t.Errorf("after %d writes: %v", writes, err)
	}
	w.expectNothingHalf(t)
	finish(t, w)
	w.expectNothingHalf(t)
	must(t, w.Sweep(t.Context()))
	w.expectAllOrNothing(t)
	w.wait(longerThanAnyCall)
	must(t, w.Sweep(t.Context()))
	w.expectAllOrNothing(t)
	w.clear(t)
	if isOver = !process.Died(); isOver && writes < leastWrites {
		t.Errorf("the process made only %d writes", writes)
	}
	return isOver
}

const (
	// deletionWrites is how many writes a deletion makes at most before its reply.
	deletionWrites = 1
	// leastWrites is how many writes a deletion and its sweeps make at least: the box, its
	// attachments one by one, and the tombstone again.
	leastWrites = 6
)

const (
	// longerThanAnyCall is longer than sweeps purge.
	longerThanAnyCall = time.Hour
	// longerThanShown is longer than followers see a deletion.
	longerThanShown = 8 * 24 * time.Hour
)

// shop is the world of a process that does not crash.
type shop struct {
	*world
	engine docstore.Engine
	clock  *storetest.Clock
	// neighbour is the neighbour as it was before the deletion.
	neighbour box
	// sweepsLate says that the first sweep runs when the purges are over.
	sweepsLate bool
	// mustBeGone says that a deletion of the box was acknowledged.
	mustBeGone bool
}

// newShop returns two boxes, each with everything that a box can have.
func newShop(t *testing.T, engine docstore.Engine, clock *storetest.Clock) *shop {
	t.Helper()
	w := &shop{engine: engine, clock: clock}
	w.world = openWorld(t, engine, w.now)
	for _, id := range []int64{boxID, neighbourID} {
		w.fill(t, id)
		_, err := w.Comments.AddComment(t.Context(), &commentv1.AddCommentRequest{
			Parent: &commentv1.AddCommentRequest_AlbumId{AlbumId: id}, AuthorId: 3, Text: "very nice",
		})
		must(t, err)
	}
	must(t, w.Sweep(t.Context()))
	var err error
	w.neighbour, err = w.Get(t.Context(), neighbourID)
	must(t, err)
	return w
}

// shopOpens is when the clock of a shop starts.
func shopOpens() time.Time { return time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC) }

func (w *shop) now() time.Time { return w.clock.Now() }

func (w *shop) wait(duration time.Duration) { w.clock.Advance(duration) }

// perBox is how many documents of each attachment a box has.
func perBox() map[string]int64 {
	return map[string]int64{"box_items": 1, "box_ballots": 1, "box_comments": 2, "box_recommendations": 1}
}

// expectNothingHalf checks that readers see the box with everything, or nothing of it.
func (w *shop) expectNothingHalf(t *testing.T) {
	t.Helper()
	w.expectNeighbour(t)
	found, err := w.Get(t.Context(), boxID)
	comments, listed := w.Comments.ListComments(t.Context(), &commentv1.ListCommentsRequest{
		Parent: &commentv1.ListCommentsRequest_AlbumId{AlbumId: boxID},
	})
	switch {
	case err == nil:
		want := w.neighbour
		want.ID = boxID
		if !same(found, want) {
			t.Errorf("the box is %+v, want %+v", found, want)
		}
		if listed != nil || len(comments.GetComments()) != 2 || w.mustBeGone {
			t.Errorf("the box is there with %d comments (%v); must it be gone: %v", len(comments.GetComments()), listed, w.mustBeGone)
		}
	case !isNotFound(err) || !isNotFound(listed):
		t.Errorf("the box: %v; its comments: %v", err, listed)
	}
}

// expectAllOrNothing checks that the box is stored with everything, or nothing of it is.
func (w *shop) expectAllOrNothing(t *testing.T) {
	t.Helper()
	w.expectNothingHalf(t)
	boxes := int64(1)
	if _, err := w.Get(t.Context(), boxID); err == nil {
		boxes++
	}
	for name, each := range perBox() {
		if got := w.count(t, name); got != boxes*each {
			t.Errorf("%d boxes have %d documents in %s", boxes, got, name)
		}
	}
	for _, each := range w.Constraints() {
		findings, err := each.Check(t.Context(), integrity.Look, func(int) {})
		if err != nil || len(findings) > 0 {
			t.Errorf("%s: %v, %v", each.Children, findings, err)
		}
	}
}

// expectNeighbour checks that the neighbour is as it was.
func (w *shop) expectNeighbour(t *testing.T) {
	t.Helper()
	found, err := w.Get(t.Context(), neighbourID)
	must(t, err)
	if !same(found, w.neighbour) {
		t.Errorf("the neighbour became %+v", found)
	}
	comments, err := w.Comments.ListComments(t.Context(), &commentv1.ListCommentsRequest{
		Parent: &commentv1.ListCommentsRequest_AlbumId{AlbumId: neighbourID},
	})
	if err != nil || len(comments.GetComments()) != 2 {
		t.Errorf("the neighbour has %d comments: %v", len(comments.GetComments()), err)
	}
}

// same compares what users see of two boxes.
func same(a, b box) bool {
	return a.ID == b.ID && a.OwnerID == b.OwnerID && a.Score == b.Score && a.Votes == b.Votes
}

// clear deletes both boxes, and checks that the last sweep leaves nothing of them, no tombstone either.
func (w *shop) clear(t *testing.T) {
	t.Helper()
	if err := w.DeleteBy(t.Context(), owner, boxID, ""); !isNotFound(err) && (err != nil || w.mustBeGone) {
		t.Error(err)
	}
	must(t, w.DeleteBy(t.Context(), owner, neighbourID, ""))
	must(t, w.Sweep(t.Context()))
	w.wait(longerThanShown)
	must(t, w.Sweep(t.Context()))
	for name, table := range w.store.tables {
		left, _, err := table.Scan(t.Context(), docstore.Scan{
			Where: docstore.All(docstore.IDIndex).Everywhere(), Limit: 10, WithTombstones: name == "boxes",
		})
		if err != nil || len(left) > 0 {
			t.Errorf("%s has %d documents: %v", name, len(left), err)
		}
	}
}

func isNotFound(err error) bool {
	var known *apierror.Error
	return errors.As(err, &known) && known.Reason == "BOX_NOT_FOUND"
}
