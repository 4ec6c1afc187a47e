//go:build linux

package embedded_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/docstore/embedded"
)

// fullDisk is a store on a file system without space.
type fullDisk struct {
	path string
	// other is a file of 6 MiB on the same file system.
	other string
	// ids are the ballots of the store.
	ids []int64
}

// newFullDisk mounts a small file system, and fills it with another file and with ballots until inserts
// fail. Then another process takes the rest.
func newFullDisk(t *testing.T) fullDisk {
	t.Helper()
	mounted := t.TempDir()
	if err := syscall.Mount("tmpfs", mounted, "tmpfs", 0, "size=24m"); err != nil {
		t.Skipf("mount a tmpfs: %v", err)
	}
	t.Cleanup(func() { must(t, syscall.Unmount(mounted, 0)) })
	d := fullDisk{path: filepath.Join(mounted, "store.db"), other: filepath.Join(mounted, "other")}
	must(t, os.WriteFile(d.other, make([]byte, 6<<20), 0o600))
	engine := open(t, d.path)
	defer shut(t, engine)
	c := fill(t, engine, 0)
	// A large document needs pages beside each other, so small ones still find space.
	for id, refused := int64(0), 0; refused < 40; id++ {
		b := largeBallot(id)
		if refused >= 20 {
			b.Body = ""
		}
		switch err := c.Insert(t.Context(), b); {
		case err == nil:
			d.ids = append(d.ids, id)
		case isRefusal(err):
			refused++
		default:
			t.Fatal(err)
		}
	}
	if len(d.ids) < 100 {
		t.Fatalf("there was space for %d ballots only", len(d.ids))
	}
	if err := os.WriteFile(filepath.Join(mounted, "rest"), make([]byte, 64<<20), 0o600); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("the disk is not full: %v", err)
	}
	return d
}

// isRefusal reports whether a write was refused on a full disk, and has not happened.
func isRefusal(err error) bool {
	return errors.Is(err, syscall.ENOSPC) && !errors.Is(err, docstore.ErrUnavailable)
}

func largeBallot(id int64) ballot {
	b := ballotOf(id, 1)
	b.Body = strings.Repeat("x", 20_000)
	return b
}

// reopen opens the store of a full disk, and shuts and checks it after the test.
func (d fullDisk) reopen(t *testing.T) (*embedded.Engine, *ballots) {
	t.Helper()
	engine := open(t, d.path)
	t.Cleanup(func() {
		shut(t, engine)
		again := openReadOnly(t, d.path)
		must(t, again.Check(context.Background()))
		shut(t, again)
	})
	return engine, fill(t, engine, 0)
}

func TestDeletionsSucceedOnAFullDiskAndMakeRoomForInserts(t *testing.T) {
	t.Parallel()
	d := newFullDisk(t)
	_, c := d.reopen(t)
	for i, id := range d.ids[:50] {
		if err := c.Delete(t.Context(), id); err != nil {
			t.Fatalf("deletion %d: %v", i+1, err)
		}
		if err := c.Insert(t.Context(), largeBallot(1_000_000+id)); !isRefusal(err) || !strings.Contains(err.Error(), "kept for deletions") {
			t.Fatalf("an insert after deletion %d: got error %v", i+1, err)
		}
	}
	if n, err := c.Count(t.Context(), byCode().All()); err != nil || n != int64(len(d.ids)-50) {
		t.Fatalf("the store has %d of %d ballots: %v", n, len(d.ids)-50, err)
	}
	for i, id := range d.ids[50:] {
		if err := c.Delete(t.Context(), id); err != nil {
			t.Fatalf("deletion %d: %v", i+51, err)
		}
	}
	for _, id := range d.ids[:100] {
		must(t, c.Insert(t.Context(), largeBallot(1_000_000+id)))
	}
}

// Writers that add take each page that becomes free. They must leave enough for deletions.
func TestDeletionsSucceedOnAFullDiskAmongWritersThatAdd(t *testing.T) {
	t.Parallel()
	d := newFullDisk(t)
	_, c := d.reopen(t)
	ctx, cancel := context.WithCancel(t.Context())
	var writers sync.WaitGroup
	for writer := range int64(4) {
		writers.Go(func() {
			for id := 1_000_000 * (writer + 1); ctx.Err() == nil; id++ {
				if err := c.Insert(ctx, largeBallot(id)); err != nil && !isRefusal(err) && ctx.Err() == nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for i, id := range d.ids[:min(len(d.ids), 500)] {
		if err := c.Delete(t.Context(), id); err != nil {
			t.Errorf("deletion %d: %v", i+1, err)
			break
		}
	}
	cancel()
	writers.Wait()
}

func TestAMassDeletionSucceedsOnAFullDisk(t *testing.T) {
	t.Parallel()
	d := newFullDisk(t)
	_, c := d.reopen(t)
	if n, err := c.DeleteAll(t.Context(), docstore.All(docstore.IDIndex).Everywhere()); err != nil || n != int64(len(d.ids)) {
		t.Fatalf("deleted %d of %d: %v", n, len(d.ids), err)
	}
}

func TestInsertsSucceedAgainOnceADiskHasSpace(t *testing.T) {
	t.Parallel()
	d := newFullDisk(t)
	_, c := d.reopen(t)
	must(t, c.Delete(t.Context(), d.ids[0]))
	if err := c.Insert(t.Context(), largeBallot(1_000_000)); !isRefusal(err) {
		t.Fatalf("got error %v", err)
	}
	must(t, os.Remove(d.other))
	must(t, c.Insert(t.Context(), largeBallot(1_000_000)))
	info, err := os.Stat(d.path + ".reserve")
	if err != nil || info.Sys().(*syscall.Stat_t).Blocks*512 < info.Size() {
		t.Fatalf("no space is kept any more: %v", err)
	}
}
