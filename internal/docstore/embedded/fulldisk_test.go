package embedded

import (
	"errors"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/waybook/waybook/internal/docstore"
)

// A write with a stamp finds the disk full, and one without a stamp does not. Then the store is opened again.
func TestAFollowerGoesOnAfterAFullDiskAndARestart(t *testing.T) {
	type thing struct {
		ID int64 `bson:"_id"`
	}
	path, token := filepath.Join(t.TempDir(), "store.db"), ""
	for _, isFull := range []bool{false, true, false} {
		engine, err := Open(t.Context(), path)
		must(t, err)
		open := func(name string, feed *docstore.Feed) *docstore.Collection[int64, thing] {
			c, err := docstore.Open[int64, thing](t.Context(), engine, docstore.Spec{Name: name, ID: docstore.Int64, Tombstones: feed != nil, Feed: feed})
			must(t, err)
			return c
		}
		followed, other := open("followed", &docstore.Feed{Settling: 10 * time.Millisecond}), open("other", nil)
		if isFull {
			engine.commit.finish = func(*bolt.Tx) error { return syscall.ENOSPC }
			if err := followed.Insert(t.Context(), thing{1}); !errors.Is(err, syscall.ENOSPC) {
				t.Errorf("got error %v", err)
			}
			engine.commit.finish = (*bolt.Tx).Commit
			must(t, other.Insert(t.Context(), thing{1}))
		}
		page, err := followed.Changes(t.Context(), docstore.ChangesQuery{Token: token, Limit: 1})
		must(t, err)
		token = page.Next
		must(t, engine.Close())
	}
}
