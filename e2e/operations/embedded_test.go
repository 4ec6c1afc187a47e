package operations_test

import (
	"os"
	"strings"
	"testing"

	bolt "go.etcd.io/bbolt"

	"github.com/waybook/waybook/internal/content/integrity"
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
