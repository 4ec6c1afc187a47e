package operations_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/waybook/waybook/e2e/launch"
	"github.com/waybook/waybook/waybookctl/storekeeping"
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
		if err := os.WriteFile(filepath.Join(directory, "waybook-202001"+day+"T000000Z.tar"), nil, 0o600); err != nil {
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
		Bytes   int64
		Removed []string
		SHA256  string
	}
	on.mustRead(&made, "store", "backup", directory, "--keep", "2")
	at := lastBackup(t, waybook)
	if moment := time.UnixMilli(int64(at * 1000)); moment.Before(before) || moment.After(time.Now()) {
		t.Errorf("the last backup was at %v", moment)
	}
	if !slices.Equal(made.Removed, []string{"waybook-20200101T000000Z.tar", "waybook-20200102T000000Z.tar"}) {
		t.Errorf("the backup is %+v", made)
	}
	kept := []string{"waybook-20200103T000000Z.tar", filepath.Base(made.File)}
	if names := launch.List(t, directory); !slices.Equal(names, kept) {
		t.Errorf("the directory has %v, want %v", names, kept)
	}
	if info, err := os.Stat(made.File); err != nil || info.Mode().Perm() != 0o600 || info.Size() < made.Bytes {
		t.Errorf("the file is %v, %v", info, err)
	}
	// What every machine has reads a backup.
	if tar, err := exec.LookPath("tar"); err == nil {
		listed, err := exec.CommandContext(t.Context(), tar, "tf", made.File).CombinedOutput()
		if err != nil || !strings.HasPrefix(string(listed), "waybook.db\nphotos/") || !strings.HasSuffix(string(listed), "-view\nmanifest.json\n") {
			t.Errorf("tar lists %q, %v", listed, err)
		}
		store, err := exec.CommandContext(t.Context(), tar, "xOf", made.File, "waybook.db").Output()
		if sum := sha256.Sum256(store); err != nil || int64(len(store)) != made.Bytes || hex.EncodeToString(sum[:]) != made.SHA256 {
			t.Errorf("the store has %d bytes, reported %+v, %v", len(store), made, err)
		}
	}
	on.must("store", "backup", directory, "--service", "poi") // without --keep, nothing is removed
	if names := launch.List(t, directory); len(names) != 3 || !strings.HasPrefix(names[2], "waybook-poi-") {
		t.Errorf("the directory has %v", names)
	}
	at = lastBackup(t, waybook)
	if status := waybook.End(syscall.SIGTERM); status != 0 {
		t.Fatalf("standalone ended with %d", status)
	}
	on.run("", "store", "backup", directory, "--keep", "1").expect(5, "account service")
	if names := launch.List(t, directory); len(names) != 3 {
		t.Errorf("a failed backup left %v", names)
	}
	if now := lastBackup(t, launch.Start(t, standalone, data)); now != at {
		t.Errorf("after a restart the last backup was at %v, not %v", now, at)
	}
	on.run("", "store", "backup", directory, "--keep", "-1").expect(2, "--keep")
	on.run("", "store", "backup", "-", "--keep", "1").expect(2, "--keep")
	on.run("", "store", "restore", t.TempDir(), "--data", data).expect(3, "there is no backup")
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
	// A backup through a pipe, as to age and rclone.
	piped := operator{t, again.GRPC}.must("store", "backup", "-")
	elsewhere := filepath.Join(t.TempDir(), "elsewhere")
	on.run(piped[:len(piped)/2], "store", "restore", "-", "--data", elsewhere).expect(1, "standard input can't be restored, and nothing has changed: the backup is truncated")
	on.run(piped, "store", "restore", "-", "--data", elsewhere).expect(0)
	on.must("store", "check", "--data", elsewhere)
	if told := (operator{t, again.GRPC}).must("user", "show", user); !strings.Contains(told, "before the backup") {
		t.Errorf("the user is %s", told)
	}
}

// pack writes a backup of the file of a store that no program has open.
func pack(store, backup string) error {
	contents, err := os.ReadFile(store)
	if err != nil {
		return err
	}
	file, err := os.Create(backup)
	if err != nil {
		return err
	}
	_, err = storekeeping.Pack(file, time.Now(), int64(len(contents)), func(to io.Writer) ([]byte, error) {
		sum := sha256.Sum256(contents)
		_, err := to.Write(contents)
		return sum[:], err
	})
	return errors.Join(err, file.Close())
}
