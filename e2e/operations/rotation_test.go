package operations_test

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/waybook/waybook/e2e/launch"
)

// lastBackup returns the time of the last backup of a program, in seconds.
func lastBackup(t *testing.T, p *launch.Process) float64 {
	t.Helper()
	const name = "waybook_store_last_backup_timestamp_seconds"
	at, found := launch.Metric(t, p.Admin, name)
	if !found {
		t.Fatalf("there is no %s", name)
	}
	return at
}

func TestBackupsAreKeptByCountAndTheServiceRemembersTheLast(t *testing.T) {
	t.Parallel()
	data, directory := t.TempDir(), t.TempDir()
	for _, day := range []string{"01", "02", "03"} {
		if err := os.WriteFile(filepath.Join(directory, "waybook-202001"+day+"T000000Z.db"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	standalone := filepath.Join(binaries, "standalone")
	waybook := launch.Start(t, standalone, data)
	on := operator{t, waybook.GRPC}
	if at := lastBackup(t, waybook); at != 0 {
		t.Errorf("before any backup, the last one was at %v", at)
	}
	before := time.Now().Add(-time.Millisecond)
	var made struct {
		File    string
		Bytes   int
		Removed []string
		SHA256  string
	}
	on.mustRead(&made, "store", "backup", directory, "--keep", "2")
	at := lastBackup(t, waybook)
	if moment := time.UnixMilli(int64(at * 1000)); moment.Before(before) || moment.After(time.Now()) {
		t.Errorf("the last backup was at %v", moment)
	}
	if !slices.Equal(made.Removed, []string{"waybook-20200101T000000Z.db", "waybook-20200102T000000Z.db"}) || made.Bytes == 0 {
		t.Errorf("the backup is %+v", made)
	}
	entries, err := os.ReadDir(directory)
	if err != nil || len(entries) != 2 || entries[1].Name() != filepath.Base(made.File) {
		t.Errorf("the directory has %v, %v", entries, err)
	}
	contents := readFile(t, made.File)
	if sum := sha256.Sum256([]byte(contents)); len(contents) != made.Bytes || hex.EncodeToString(sum[:]) != made.SHA256 {
		t.Errorf("the file has %d bytes, reported %+v", len(contents), made)
	}
	if info, err := os.Stat(made.File); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file is %v, %v", info, err)
	}
	if status := waybook.End(syscall.SIGTERM); status != 0 {
		t.Fatalf("standalone ended with %d", status)
	}
	on.run("", "store", "backup", directory, "--keep", "1").expect(5, "account service")
	if entries, err := os.ReadDir(directory); err != nil || len(entries) != 2 {
		t.Errorf("a failed backup left %v, %v", entries, err)
	}
	if now := lastBackup(t, launch.Start(t, standalone, data)); now != at {
		t.Errorf("after a restart the last backup was at %v, not %v", now, at)
	}
	on.run("", "store", "backup", directory, "--keep", "-1").expect(2, "--keep")
}

func TestARestoreReplacesADamagedStoreAndKeepsIt(t *testing.T) {
	t.Parallel()
	data, directory := t.TempDir(), t.TempDir()
	standalone, file := filepath.Join(binaries, "standalone"), filepath.Join(data, "waybook.db")
	waybook := launch.Start(t, standalone, data, "-demo=false")
	on := operator{t, waybook.GRPC}
	user := on.createUser("before the backup")
	on.must("store", "backup", directory, "--keep", "7")
	on.run("", "store", "restore", directory, "--data", data).expect(1, "stop it first")
	if status := waybook.End(syscall.SIGTERM); status != 0 {
		t.Fatalf("standalone ended with %d", status)
	}
	damaged := []byte("no store")
	if err := os.WriteFile(file, damaged, 0o600); err != nil {
		t.Fatal(err)
	}
	var done struct{ Backup, Store, Former string }
	on.mustRead(&done, "store", "restore", directory, "--data", data)
	if kept, err := os.ReadFile(done.Former); err != nil || string(kept) != string(damaged) || done.Store != file || filepath.Dir(done.Backup) != directory {
		t.Errorf("restored %+v; the former store is %q, %v", done, kept, err)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the store is %v, %v", info, err)
	}
	if told := on.must("store", "check", "--data", data); !strings.HasSuffix(told, "The store is clean.\n") {
		t.Errorf("check printed:\n%s", told)
	}
	again := launch.Start(t, standalone, data, "-demo=false")
	if told := (operator{t, again.GRPC}).must("user", "show", user); !strings.Contains(told, "before the backup") {
		t.Errorf("the user is %s", told)
	}
}

func TestADamagedBackupIsNotRestored(t *testing.T) {
	t.Parallel()
	data, file := filepath.Join(t.TempDir(), "data"), filepath.Join(t.TempDir(), "backup.db")
	on := operator{t, "127.0.0.1:1"}
	on.must("store", "prepare", "--data", data)
	store := filepath.Join(data, "waybook.db")
	whole, err := os.ReadFile(store)
	if err != nil {
		t.Fatal(err)
	}
	refuse := func(what string, contents []byte) {
		t.Helper()
		if err := os.WriteFile(file, contents, 0o600); err != nil {
			t.Fatal(err)
		}
		on.run("", "store", "restore", file, "--data", data).expect(1, "nothing has changed")
		entries, err := os.ReadDir(data)
		if err != nil || len(entries) != 2 { // the store and the space that it keeps
			t.Errorf("%s: the directory has %v, %v", what, entries, err)
		}
		if now, err := os.ReadFile(store); err != nil || string(now) != string(whole) {
			t.Errorf("%s: the store has changed (%v)", what, err)
		}
	}
	refuse("a truncated backup", whole[:5*os.Getpagesize()])
	refuse("an empty file", nil)
	scrambled := slices.Clone(whole)
	for n := 4 * os.Getpagesize(); n < len(scrambled); n++ { // behind the two meta pages
		scrambled[n] ^= 0xff
	}
	refuse("broken pages", scrambled)
	on.run("", "store", "restore", t.TempDir(), "--data", data).expect(3, "there is no ")
}
