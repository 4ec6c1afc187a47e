package embedded_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/waybook/waybook/internal/docstore"
)

// recipient receives a backup and calls a function before each write.
type recipient struct {
	bytes.Buffer
	before func() error
}

func (r *recipient) Write(piece []byte) (int, error) {
	if err := r.before(); err != nil {
		return 0, err
	}
	return r.Buffer.Write(piece)
}

func TestABackupIsTheStoreAtOneMoment(t *testing.T) {
	t.Parallel()
	engine := openAt(t, filepath.Join(t.TempDir(), "store.db"))
	c := fill(t, engine, 20_000)
	next, announced := int64(20_000), int64(0)
	to := &recipient{}
	// Each piece is followed by writes that the backup must not contain.
	to.before = func() error {
		if next == 20_000 {
			if _, err := c.DeleteAll(t.Context(), byWriterVersion().First(0)); err != nil {
				return err
			}
		}
		next++
		return c.Insert(t.Context(), someBallot(next))
	}
	if err := engine.Backup(t.Context(), to, func(n int64) error { announced = n; return nil }); err != nil {
		t.Fatal(err)
	}
	if announced != int64(to.Len()) || next < 20_005 {
		t.Errorf("announced %d bytes, wrote %d, with %d inserts meanwhile", announced, to.Len(), next-20_000)
	}
	path := filepath.Join(t.TempDir(), "backup.db")
	must(t, os.WriteFile(path, to.Bytes(), 0o600))
	copied := fill(t, openAt(t, path), 0)
	if n, err := copied.Count(t.Context(), docstore.All(docstore.IDIndex).Everywhere()); err != nil || n != 20_000 {
		t.Errorf("the backup has %d ballots: %v", n, err)
	}
	if _, err := copied.Get(t.Context(), int64(7)); err != nil {
		t.Error(err)
	}
}

func TestABackupEndsWithItsContextAndWithItsReader(t *testing.T) {
	engine := openAt(t, filepath.Join(t.TempDir(), "store.db"))
	fill(t, engine, 10_000)
	noStart := func(int64) error { return nil }
	broken := errors.New("broken")
	if err := engine.Backup(t.Context(), &recipient{before: func() error { return broken }}, noStart); !errors.Is(err, broken) {
		t.Errorf("got error %v", err)
	}
	if err := engine.Backup(t.Context(), nil, func(int64) error { return broken }); !errors.Is(err, broken) {
		t.Errorf("got error %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	to := &recipient{before: func() error { cancel(); return nil }}
	if err := engine.Backup(ctx, to, noStart); !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v", err)
	}
}
