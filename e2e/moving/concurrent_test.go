package moving_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// began starts an import and waits until its journal has that many lines.
func began(t *testing.T, journal string, lines int, args ...string) *exec.Cmd {
	t.Helper()
	command := waybookctl(t, args...)
	var notes bytes.Buffer
	command.Stderr = &notes
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	for limit := time.Now().Add(patience); journalled(journal) < lines; time.Sleep(time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatalf("the import does not begin: %s", notes.String())
		}
	}
	return command
}

func TestOneImportAtATimeUsesAJournal(t *testing.T) {
	t.Parallel()
	old := newOldService(t, 1)
	waybook, journal := startOn(t, t.TempDir()), filepath.Join(t.TempDir(), "journal")
	args := old.importInto(waybook, journal, "--workers", "1")
	first := began(t, journal, 1, args...)
	if second := run(t, args...); second.status != 4 || !strings.Contains(second.notes, "another import") || !strings.Contains(second.notes, "--journal") {
		t.Errorf("beside another import: status %d\n%s%s", second.status, second.out, second.notes)
	}
	// What a killed import leaves behind keeps nobody away.
	if err := first.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := first.Wait(); err == nil {
		t.Log("the import ended before it was killed")
	}
	succeed(t, args...)
	if _, err := os.Stat(journal); !os.IsNotExist(err) {
		t.Errorf("the journal is still there: %v", err)
	}
}

var (
	straightOnce sync.Once
	straightDump string
)

// straight returns the dump of a store after an import of the first edition that nothing disturbed. Tests share it.
func straight(t *testing.T) (file string) {
	t.Helper()
	straightOnce.Do(func() {
		data := t.TempDir()
		waybook := startOn(t, data)
		succeed(t, newOldService(t, 1).importInto(waybook, filepath.Join(t.TempDir(), "journal"))...)
		made := filepath.Join(binaries, "straight.dump")
		if err := os.Rename(dump(t, waybook, data), made); err != nil {
			t.Fatal(err)
		}
		straightDump = made
	})
	if straightDump == "" {
		t.Fatal("the import of another test failed")
	}
	return straightDump
}

// Two owners may import at the same time. Everything, rewards too, is stored once.
func TestTwoImportsWithTwoJournalsEndInTheSameStore(t *testing.T) {
	t.Parallel()
	old, data := newOldService(t, 1), t.TempDir()
	want := straight(t)
	waybook := startOn(t, data)
	var both []*exec.Cmd
	for range 2 {
		command := waybookctl(t, old.importInto(waybook, filepath.Join(t.TempDir(), "journal"), "--update")...)
		command.Stderr = &bytes.Buffer{}
		if err := command.Start(); err != nil {
			t.Fatal(err)
		}
		both = append(both, command)
	}
	for _, each := range both {
		if err := each.Wait(); err != nil {
			t.Errorf("%v\n%s", err, each.Stderr)
		}
	}
	expectSame(t, want, dump(t, waybook, data))
}

// An owner may put another store in the place of the one that an import has begun to fill. What the
// journal says is stored is not there then.
func TestAnImportThatGoesOnSendsAgainWhatTheStoreHasLost(t *testing.T) {
	t.Parallel()
	old, data := newOldService(t, 1), t.TempDir()
	want := straight(t)
	waybook, journal := startOn(t, data), filepath.Join(t.TempDir(), "journal")
	args := old.importInto(waybook, journal, "--workers", "1")
	first := began(t, journal, 100, args...) // all users, and content
	if err := first.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := first.Wait(); err == nil {
		t.Fatal("the import ended before it was killed")
	}
	dump(t, waybook, data)
	for _, name := range []string{"waybook.db", "waybook.db.reserve"} {
		if err := os.Remove(filepath.Join(data, name)); err != nil {
			t.Fatal(err)
		}
	}
	waybook = startOn(t, data)
	succeed(t, args...)
	expectSame(t, want, dump(t, waybook, data))
}
