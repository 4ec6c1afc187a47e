//go:build linux

package embedded_test

import (
	"errors"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/waybook/waybook/internal/docstore"
)

// The test limits the size of files, so that bbolt's writes fail as on a full disk.
func TestAFullDiskLosesNothingAndWritesSucceedAgainOnceThereIsSpace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	engine := openAt(t, path)
	c := fill(t, engine, 0)
	info, err := os.Stat(path)
	must(t, err)
	lift := limitFileSize(t, uint64(info.Size())+6<<20)
	body := strings.Repeat("x", 100_000)
	stored, refused := int64(0), 0
	for id := int64(0); refused < 20; id++ {
		b := ballotOf(id, 1)
		b.Body = body
		switch err := c.Insert(t.Context(), b); {
		case err == nil:
			stored++
		case strings.Contains(err.Error(), syscall.EFBIG.Error()) && !errors.Is(err, docstore.ErrUnavailable):
			refused++
		default:
			t.Fatal(err)
		}
	}
	if stored == 0 {
		t.Error("there was no space for any document")
	}
	check := func() {
		t.Helper()
		n, err := c.Count(t.Context(), byCode().All())
		if err := errors.Join(err, engine.Ping(t.Context()), engine.Check(t.Context())); err != nil || n != stored {
			t.Fatalf("the store has %d documents, want %d; %v", n, stored, err)
		}
	}
	check()
	lift()
	for id := range int64(20) {
		must(t, c.Insert(t.Context(), ballotOf(1000+id, 1)))
		stored++
	}
	check()
}

// limitFileSize limits the size of the files that this process writes, until lift is
// called.
func limitFileSize(t *testing.T, bytes uint64) (lift func()) {
	t.Helper()
	var before syscall.Rlimit
	must(t, syscall.Getrlimit(syscall.RLIMIT_FSIZE, &before))
	signal.Ignore(syscall.SIGXFSZ)
	must(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: bytes, Max: before.Max}))
	lift = func() {
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
			t.Error(err)
		}
	}
	t.Cleanup(func() {
		lift()
		signal.Reset(syscall.SIGXFSZ)
	})
	return lift
}
