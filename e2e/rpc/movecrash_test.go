package rpc_test

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/docstore/embedded"
	"github.com/waybook/waybook/internal/longform"
	"github.com/waybook/waybook/internal/storetest"
	moveinv1 "github.com/waybook/waybook/proto/gen/waybook/movein/v1"
)

// step is from how many writes a test of crashes tries one: an odd number, so that writes that happen and writes that
// do not take turns.
func step() int { return longform.Number(3, 1) }

// A call that crashes at any of its writes is finished by the next.
func TestRecordsThatCrashAreFinishedByTheNextCall(t *testing.T) {
	t.Parallel()
	for writes, died := 0, true; died; writes += step() {
		died = false // a subtest does not run after a failure with -failfast
		outcome := storetest.Outcome(writes%2 == 0)
		t.Run(fmt.Sprintf("happened=%v, writes=%d", outcome, writes), func(t *testing.T) {
			engine := must(embedded.Open(t.Context(), filepath.Join(t.TempDir(), "store.db")))(t)
			p := startPartsOn(t, newBrittleOf(t, engine))
			a, b := p.newUser("a"), p.newUser("b")
			store, mortal := storetest.NewMortal(engine, writes, outcome)
			err := startPartsOn(t, newBrittleOf(t, store)).tryContent(a, b)
			if died = mortal.Died(); err != nil && !died { // what follows a reply may die, too
				t.Fatalf("it failed: %v", err)
			}
			must(0, p.tryContent(a, b))(t)
			p.expectMovedIn(a, b)
		})
	}
}

// tryContent moves oldContent in.
func (w *waybook) tryContent(a, b int64) error {
	for _, records := range oldContent(a, b) {
		if _, err := w.MoveIn.MoveIn(w.t.Context(), &moveinv1.MoveInRequest{Records: records}); err != nil {
			return err
		}
	}
	return nil
}

// expectMovedIn checks that all of oldContent is there.
func (p *parts) expectMovedIn(a, b int64) {
	p.t.Helper()
	p.Sweep()
	p.expectShown(a, b)
	p.check()
	for _, records := range oldContent(a, b) {
		expectAll(p.t, p.moveRecords(records...), equal)
	}
}

// The identifier names the place of the owner, so content stays that owner's from its alias on.
func TestContentWhoseStoringFailedStaysThatOfItsOwner(t *testing.T) {
	t.Parallel()
	store, isBroken := newBrittle(t), true
	store.Engine = &storetest.Hooked{Engine: store.Engine, Write: func(_ context.Context, call storetest.Call, do func() error) error {
		if isBroken && call.Verb == "insert" && (call.Collection == "albums" || call.Collection == "pois") {
			return docstore.ErrUnavailable
		}
		return do()
	}}
	p := startPartsOn(t, store)
	a, b := p.newUser("a"), p.newUser("b")
	for _, kind := range []string{"album", "landmark"} {
		isBroken = true
		if _, err := p.MoveIn.MoveIn(t.Context(), &moveinv1.MoveInRequest{Records: whole(kind, "7", a, 1)}); err == nil {
			t.Fatal("no error")
		}
		isBroken = false
		if got := p.moveRecords(whole(kind, "7", b, 1)[0])[0]; got.GetReason() != "ID_TAKEN" {
			t.Errorf("%s of another owner: %v", kind, got)
		}
		expectAll(t, p.moveRecords(whole(kind, "7", a, 1)...), inserted)
	}
}
