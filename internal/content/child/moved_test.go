package child_test

import (
	"context"
	"errors"
	"testing"

	"github.com/waybook/waybook/internal/content/aliases"
	"github.com/waybook/waybook/internal/content/child"
	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/id"
	"github.com/waybook/waybook/internal/storetest"
)

// A user's removal of an item that was moved in fails, or not. Then an import drops the item. Another one that has it
// again must know whether the user or the import has removed it.
func TestARemovalThatFailedIsNotTakenForOneWhenAnImportDropsTheChild(t *testing.T) {
	never := func(context.Context, *crates, int64, func() error) error { return docstore.ErrUnavailable }
	for name, c := range map[string]struct {
		deletion  func(ctx context.Context, s *crates, itemID int64, do func() error) error
		isRemoved bool
	}{
		"it is made": {func(_ context.Context, _ *crates, _ int64, do func() error) error { return do() }, true},
		"its reply is lost": {func(_ context.Context, _ *crates, _ int64, do func() error) error {
			return errors.Join(do(), docstore.ErrUnavailable)
		}, true},
		"it never comes":         {never, false},
		"another call is faster": {afterAChange, false},
	} {
		t.Run(name, func(t *testing.T) {
			store := &storetest.Hooked{Engine: newFile(t)}
			s := cratesOn(t, store, 0)
			moved := item{ID: id.OfOld(5, id.PlaceOf(boxID)), BoxID: boxID, RequestKey: aliases.RequestPrefix + "5", Text: "old"}
			_, err := s.Store(t.Context(), []item{moved}, child.Moved[item]{ID: func(i *item) int64 { return i.ID }})
			must(t, err)
			store.Write = func(ctx context.Context, call storetest.Call, do func() error) error {
				if call.Collection == "items" && call.Verb == "delete" {
					return c.deletion(ctx, s, moved.ID, do)
				}
				return do()
			}
			err = s.Remove(t.Context(), boxID, moved.ID, "old", func(*crate, *item) error { return nil })
			t.Log("the removal:", err)
			store.Write = nil
			must(t, s.Drop(t.Context(), []int64{moved.ID}))
			removed, err := s.Removed(t.Context(), []int64{moved.ID})
			must(t, err)
			if removed[moved.ID] != c.isRemoved {
				t.Errorf("a user has removed it: %v", removed[moved.ID])
			}
		})
	}
}

// afterAChange changes an item before it is deleted.
func afterAChange(ctx context.Context, s *crates, itemID int64, do func() error) error {
	_, err := s.Children.Update(ctx, itemID, func(i *item) error { i.Text = "new"; return nil })
	return errors.Join(err, do())
}
