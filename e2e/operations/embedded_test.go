package operations_test

import (
	"context"
	"os"
	"strings"
	"testing"

	bolt "go.etcd.io/bbolt"
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/waybook/waybook/internal/content/integrity"
	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/docstore/embedded/spoil"
	"github.com/waybook/waybook/waybookctl/storekeeping"
)

func TestADamagedFileIsFoundAndLeftUnchanged(t *testing.T) {
	t.Parallel()
	s := store{t: t}
	s.flags.Data = t.TempDir()
	s.fill()
	db, err := bolt.Open(s.file(), 0o600, nil)
	s.must(err)
	s.must(db.Update(func(tx *bolt.Tx) error { return spoil.RemoveFirst(tx, "albums", "owner") }))
	s.must(db.Close())
	for _, mode := range []integrity.Mode{integrity.Look, integrity.Repair} {
		_, err := storekeeping.Check(t.Context(), s.options(), mode)
		if err == nil || !strings.Contains(err.Error(), "restore a backup") || !strings.Contains(err.Error(), "index owner") {
			t.Errorf("the check: %v", err)
		}
	}
}

func TestALookLeavesTheEmbeddedFileUnchanged(t *testing.T) {
	t.Parallel()
	s := store{t: t}
	s.flags.Data = t.TempDir()
	s.fill()
	before, err := os.ReadFile(s.file())
	s.must(err)
	s.check(integrity.Look)
	after, err := os.ReadFile(s.file())
	s.must(err)
	if string(after) != string(before) {
		t.Error("the file changed")
	}
}

func TestACheckKnowsHowMuchOfTheFileIsFree(t *testing.T) {
	t.Parallel()
	s := store{t: t}
	s.flags.Data = t.TempDir()
	s.fill()
	before := s.check(integrity.Look)
	s.tamper(func(ctx context.Context, r *recorder) {
		large := docstore.Spec{Name: "large", ID: docstore.Int64}
		table, err := r.Engine.Open(ctx, large)
		s.must(err)
		raw, err := bson.Marshal(bson.D{{Key: "_id", Value: int64(1)}, {Key: docstore.RevisionField, Value: int64(1)}, {Key: "x", Value: strings.Repeat("x", 4<<20)}})
		s.must(err)
		_, err = table.Insert(ctx, []bson.Raw{raw})
		s.must(err)
		s.must(table.Delete(ctx, docstore.Deletion{ID: docstore.ValueOf(int64(1))}))
	})
	after := s.check(integrity.Look)
	// Other pages are freed and used again meanwhile, so the numbers are not exact.
	const most = 15 << 18
	if before.FileBytes == 0 || before.FreeBytes >= most || after.FreeBytes < most || after.FileBytes < after.FreeBytes {
		t.Errorf("before %+v, after %+v", before, after)
	}
}
