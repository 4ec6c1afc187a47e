package operations_test

import (
	"errors"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/waybook/waybook/e2e/launch"
	"github.com/waybook/waybook/waybookctl/backupplace"
)

// changed is a body whose first byte is another.
type changed struct {
	io.ReadCloser
	isDone bool
}

func (c *changed) Read(into []byte) (int, error) {
	n, err := c.ReadCloser.Read(into)
	if n > 0 && !c.isDone {
		into[0] ^= 1
		c.isDone = true
	}
	return n, err
}

// The exercise of docs/operations.md: encrypted backups in a bucket, the loss of the machine, and a
// restore on an empty one.
func TestAnEncryptedBackupInABucketIsRestoredOnAnEmptyMachine(t *testing.T) {
	t.Parallel()
	s3 := startGateway(t)
	const where = "s3://waybook/nightly"
	recipient, identity := newKeys(t)
	standalone, data := filepath.Join(binaries, "standalone"), t.TempDir()
	waybook := launch.Start(t, standalone, data)
	session, err := os.ReadFile(filepath.Join(data, "demo-cookie"))
	if err != nil {
		t.Fatal(err)
	}
	list := url.Values{"func": {"getUserAlbumList"}, "userID": {regexp.MustCompile(`id=(\d+);`).FindStringSubmatch(string(session))[1]}}
	want := launch.Get(t, "http://"+waybook.HTTP+"/API.php?"+list.Encode())
	on := newBucketLine(t, waybook.GRPC, s3.address)

	printed := on.must("store", "backup", where, "--recipient", recipient, "--identity", identity, "--keep", "2")
	if !strings.Contains(printed, where+"/waybook-2") || !strings.Contains(printed, ".db.age: ") {
		t.Errorf("a backup printed %q", printed)
	}
	old := filepath.Join(s3.root, "waybook", "nightly", "waybook-20200101T000000Z.db")
	if err := os.WriteFile(old, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	on.must("store", "rehearse", where, "--identity", identity, "--confirm", "--scratch", t.TempDir())
	for _, name := range []string{"waybook_store_last_backup_timestamp_seconds", "waybook_store_last_rehearsal_timestamp_seconds"} {
		if at, found := launch.Metric(t, waybook.Admin, name); !found || at == 0 {
			t.Errorf("%s is %v", name, at)
		}
	}
	if status := waybook.End(syscall.SIGTERM); status != 0 {
		t.Fatalf("standalone ended with %d", status)
	}

	machine := newBucketLine(t, "127.0.0.1:1", s3.address)
	restored := t.TempDir()
	machine.refused("name the file with its private key", "store", "restore", where, "--data", restored)
	_, other := newKeys(t)
	machine.refused("decrypt", "store", "restore", where, "--data", restored, "--identity", other)
	machine.must("store", "restore", where, "--data", restored, "--identity", identity)
	again := launch.Start(t, standalone, restored)
	if got := launch.Get(t, "http://"+again.HTTP+"/API.php?"+list.Encode()); got != want {
		t.Errorf("the restored list is\n%s\nand was\n%s", got, want)
	}

	newest := s3.kept(t, "nightly")[1]
	on = newBucketLine(t, again.GRPC, s3.address)
	on.must("store", "backup", where, "--recipient", recipient, "--keep", "1", "--keep-for", "24h")
	names := s3.kept(t, "nightly")
	if len(names) > 2 || names[0] != newest {
		t.Errorf("the bucket keeps %v, want %s and the newest", names, newest)
	}
	// A file by its name, and one that was changed where it lies.
	file := filepath.Join(s3.root, "waybook", "nightly", newest)
	contents, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(contents), "albums") {
		t.Error("the backup is not encrypted")
	}
	machine.must("store", "rehearse", where+"/"+newest, "--identity", identity)
	contents[len(contents)/2] ^= 1
	if err := os.WriteFile(file, contents, 0o600); err != nil {
		t.Fatal(err)
	}
	scratch := t.TempDir()
	machine.refused("can't be restored, and nothing has changed", "store", "rehearse", where+"/"+newest, "--identity", identity, "--scratch", scratch)
	if left, err := os.ReadDir(scratch); err != nil || len(left) > 0 {
		t.Errorf("a rehearsal left %v, %v", left, err)
	}
	machine.refused("does not exist", "store", "restore", "s3://waybook/none", "--data", t.TempDir())
}

func TestABackupThatArrivesBrokenIsNoBackup(t *testing.T) {
	t.Parallel()
	s3 := startGateway(t)
	waybook := launch.Start(t, filepath.Join(binaries, "standalone"), t.TempDir())
	recipient, identity := newKeys(t)
	between := newProxy(t, s3)
	on := newBucketLine(t, waybook.GRPC, between.address)
	between.changes.Store(true)
	on.refused("differs when it is read again", "store", "backup", "s3://waybook/changed")
	on.refused("differs when it is decrypted", "store", "backup", "s3://waybook/changed", "--recipient", recipient, "--identity", identity)
	between.changes.Store(false)
	between.cuts.Store(1000)
	on.refused("s3://waybook/cut/", "store", "backup", "s3://waybook/cut")
	for _, prefix := range []string{"changed", "cut"} {
		if names := s3.kept(t, prefix); len(names) > 0 {
			t.Errorf("%s keeps %v", prefix, names)
		}
	}
	if at, _ := launch.Metric(t, waybook.Admin, "waybook_store_last_backup_timestamp_seconds"); at != 0 {
		t.Error("a broken backup counts")
	}
	on.variables["AWS_SECRET_ACCESS_KEY"] = "another"
	on.refused("s3://waybook/cut/", "store", "backup", "s3://waybook/cut")
	delete(on.variables, "AWS_ACCESS_KEY_ID")
	on.refused("set AWS_ACCESS_KEY_ID", "store", "backup", "s3://waybook/cut")
	on.variables["AWS_SHARED_CREDENTIALS_FILE"] = filepath.Join(t.TempDir(), "credentials")
	text := "[default]\naws_access_key_id = " + keyID + "\naws_secret_access_key = " + secretKey + "\n"
	if err := os.WriteFile(on.variables["AWS_SHARED_CREDENTIALS_FILE"], []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	between.cuts.Store(0)
	on.must("store", "backup", "s3://waybook/file")
}

func TestAFileOfManyPartsAppearsWhenItIsWhole(t *testing.T) {
	t.Parallel()
	s3 := startGateway(t)
	place, err := backupplace.Open("s3://waybook/parts", newBucketLine(t, "", s3.address).lookup, true)
	if err != nil {
		t.Fatal(err)
	}
	const size = 20 << 20 // three parts
	piece := make([]byte, 1<<20)
	write := func(end error) error {
		return place.Write(t.Context(), "waybook-1.db", func(to io.Writer) error {
			for range size / len(piece) {
				if _, err := to.Write(piece); err != nil {
					return err
				}
			}
			return end
		})
	}
	broken := errors.New("the disk is gone")
	if err := write(broken); !errors.Is(err, broken) {
		t.Errorf("got error %v", err)
	}
	if names, err := place.List(t.Context(), "waybook-"); err != nil || len(names) > 0 {
		t.Errorf("there are %v, %v", names, err)
	}
	if err := write(nil); err != nil {
		t.Fatal(err)
	}
	file, err := place.Open(t.Context(), "waybook-1.db")
	if err != nil {
		t.Fatal(err)
	}
	if read, err := io.Copy(io.Discard, file); err != nil || read != size || file.Bytes != size {
		t.Errorf("the file has %d bytes, read %d, %v", file.Bytes, read, err)
	}
	if err := errors.Join(file.Close(), place.Remove(t.Context(), "waybook-1.db"), place.Remove(t.Context(), "waybook-1.db")); err != nil {
		t.Error(err)
	}
}
