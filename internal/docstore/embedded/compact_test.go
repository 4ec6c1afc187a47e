//go:build unix

package embedded_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/docstore/embedded"
)

// full makes a store that takes a while to copy, and returns its path.
func full(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "store.db")
	engine := open(t, path)
	fill(t, engine, 40_000)
	shut(t, engine)
	return path
}

// whenCopying calls do once the copy of a compaction has begun.
func whenCopying(path string, do func()) {
	for {
		if info, err := os.Stat(path + ".compacting"); err == nil && info.Size() > 1<<20 {
			do()
			return
		}
		time.Sleep(100 * time.Microsecond)
	}
}

// sparse makes a store whose file is mostly free, and returns its path.
func sparse(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "store.db")
	engine := open(t, path)
	c := fill(t, engine, 40_000)
	for writer := range int64(39) {
		if _, err := c.DeleteAll(t.Context(), byWriterVersion().First(writer)); err != nil {
			t.Fatal(err)
		}
	}
	shut(t, engine)
	return path
}

// expectRest checks that the store of sparse has its last thousand ballots.
func expectRest(t *testing.T, path string) {
	t.Helper()
	engine := openAt(t, path)
	c := fill(t, engine, 0)
	n, err := c.Count(t.Context(), docstore.All(docstore.IDIndex).Everywhere())
	if err != nil || n != 1000 {
		t.Errorf("%d ballots: %v", n, err)
	}
	for id := int64(39_000); id < 40_000; id++ {
		if found, err := c.Find(t.Context(), byCode().Is(someBallot(id).Code)); err != nil || found != someBallot(id) {
			t.Fatalf("ballot %d: %v, %v", id, found, err)
		}
	}
	insert(t, c, 1)
}

func sizeOf(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	must(t, err)
	return info.Size()
}

func TestACompactedFileIsSmallAndHoldsTheSame(t *testing.T) {
	t.Parallel()
	path := sparse(t)
	must(t, os.Chmod(path, 0o640))
	must(t, os.WriteFile(path+".compacting", []byte("left by a crash"), 0o600))
	before := sizeOf(t, path)
	done, err := embedded.Compact(t.Context(), path)
	must(t, err)
	after := sizeOf(t, path)
	if done != (embedded.Compacted{Before: before, After: after}) || after*5 > before {
		t.Errorf("had %d bytes, has %d, reported %+v", before, after, done)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("the mode is %v (%v)", info.Mode(), err)
	}
	expectOnly(t, path)
	expectRest(t, path)
}

// expectOnly checks that nothing is left beside the file.
func expectOnly(t *testing.T, path string) {
	t.Helper()
	files, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(files) != 1 {
		t.Errorf("the directory has %v (%v)", files, err)
	}
}

func TestAStoreInUseIsNotCompacted(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db")
	if _, err := embedded.Compact(t.Context(), path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got error %v", err)
	}
	openAt(t, path)
	if _, err := embedded.Compact(t.Context(), path); !errors.Is(err, embedded.ErrLocked) {
		t.Errorf("got error %v", err)
	}
	expectOnly(t, path)
}

func TestACancelledCompactionChangesNothing(t *testing.T) {
	t.Parallel()
	path := full(t)
	before := sizeOf(t, path)
	ctx, cancel := context.WithCancel(t.Context())
	go whenCopying(path, cancel)
	if _, err := embedded.Compact(ctx, path); !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v", err)
	}
	if after := sizeOf(t, path); after != before {
		t.Errorf("had %d bytes, has %d", before, after)
	}
	expectOnly(t, path)
	engine := openAt(t, path)
	must(t, engine.Check(t.Context()))
}

func TestADamagedStoreIsNotCompacted(t *testing.T) {
	t.Parallel()
	path := sparse(t)
	damageIndex(t, path)
	if _, err := embedded.Compact(t.Context(), path); err == nil || !strings.Contains(err.Error(), "restore a backup") {
		t.Errorf("got error %v", err)
	}
	expectOnly(t, path)
}

// compactedEnv names the file that a process compacts until it kills itself.
const compactedEnv = "WAYBOOK_TEST_COMPACT"

func TestAKilledCompactionLeavesTheOldFile(t *testing.T) {
	t.Parallel()
	if path := os.Getenv(compactedEnv); path != "" {
		go whenCopying(path, func() { _ = syscall.Kill(os.Getpid(), syscall.SIGKILL) })
		_, err := embedded.Compact(t.Context(), path)
		t.Fatalf("the compaction returned: %v", err)
	}
	path := full(t)
	before := sizeOf(t, path)
	process := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^"+t.Name()+"$")
	process.Env = append(os.Environ(), compactedEnv+"="+path)
	out, err := process.CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Fatalf("the process ended with %v:\n%s", err, out)
	}
	if sizeOf(t, path+".compacting") == 0 || sizeOf(t, path) != before {
		t.Error("the process was not killed half way")
	}
	if _, err := embedded.Compact(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	expectOnly(t, path)
	engine := openAt(t, path)
	must(t, engine.Check(t.Context()))
}
