package operations_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/waybook/waybook/e2e/launch"
	"github.com/waybook/waybook/internal/platform/service"
	"github.com/waybook/waybook/waybookctl/storekeeping"
)

// This is the exercise of docs/operations.md: dump a store with demo content, load it elsewhere, and serve from
// there. No program serves half of it.
func TestALoadedDumpServesTheSameContentAndHalfOfOneNone(t *testing.T) {
	t.Parallel()
	data, restored := filepath.Join(t.TempDir(), "data"), filepath.Join(t.TempDir(), "restored")
	file, photos := filepath.Join(t.TempDir(), "waybook.dump"), t.TempDir()
	on := operator{t, "127.0.0.1:1"}
	standalone := filepath.Join(binaries, "standalone")

	waybook := launch.Start(t, standalone, data)
	session := strings.TrimSpace(readFile(t, filepath.Join(data, "demo-cookie")))
	owner := regexp.MustCompile(`id=(\d+);`).FindStringSubmatch(session)[1]
	var albums []struct {
		ID json.Number `json:"album_id"`
	}
	operator{t, waybook.GRPC}.mustRead(&albums, "album", "list", "--owner", owner)
	if len(albums) == 0 {
		t.Fatal("the demo user has no album")
	}
	get := url.Values{"func": {"getAlbum"}, "albumID": {albums[0].ID.String()}}
	album := call(t, waybook.HTTP, "", get)
	for _, refused := range [][]string{{"check"}, {"prepare"}, {"dump", file}} {
		on.run("", append([]string{"store", refused[0], "--data", data}, refused[1:]...)...).expect(1, "stop it first")
	}
	if status := waybook.End(syscall.SIGTERM); status != 0 {
		t.Fatalf("standalone ended with %d", status)
	}

	var dumped, loaded struct {
		Documents   int
		Collections []struct{ Name string }
		SHA256      string
	}
	on.mustRead(&dumped, "store", "dump", file, "--data", data, "--photos", photos)
	if dumped.Documents < 20 || len(dumped.Collections) < 15 || len(dumped.SHA256) != 64 {
		t.Errorf("dumped: %+v", dumped)
	}
	on.run("", "store", "check", "--data", restored).expect(3, "no embedded store")
	interruptLoad(t, file, restored)
	on.run("", "store", "check", "--data", restored).expect(1, "load with the same file again")
	on.run("", "store", "dump", filepath.Join(t.TempDir(), "dump"), "--data", restored).expect(1, "the store is incomplete")
	refused := launch.Begin(t, standalone, nil, launch.FreePorts(restored)...)
	if status := refused.Wait(); status != 1 || !strings.Contains(refused.Printed(), "load with the same file again") || strings.Count(refused.Logged(), "\n") != 1 {
		t.Errorf("standalone ended with %d:\n%s", status, refused.Printed())
	}

	on.mustRead(&loaded, "store", "load", file, "--data", restored, "--photos", photos)
	if loaded.Documents != dumped.Documents {
		t.Errorf("loaded: %+v", loaded)
	}
	if told := on.must("store", "check", "--data", restored); !strings.Contains(told, "pois") || !strings.HasSuffix(told, "The store is clean.\n") {
		t.Errorf("check printed:\n%s", told)
	}
	waybook = launch.Start(t, standalone, restored)
	if got := call(t, waybook.HTTP, "", get); got != album {
		t.Errorf("the album was\n%s\nand is\n%s", album, got)
	}
	update := url.Values{"func": {"updateAlbum"}, "albumID": {albums[0].ID.String()}, "albumTitle": {"after"}}
	if reply := call(t, waybook.HTTP, session, update); !strings.Contains(reply, "SUCCESS") {
		t.Errorf("the open session got the reply %s", reply)
	}
	if status := waybook.End(syscall.SIGTERM); status != 0 {
		t.Fatalf("standalone ended with %d", status)
	}
	on.run("", "store", "load", file, "--data", restored).expect(1, "already holds other documents", "albums")
}

// interruptLoad loads a file until its first documents are stored.
func interruptLoad(t *testing.T, file, data string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	options := storekeeping.Options{Store: service.StoreFlags{Data: data}}
	dump, err := storekeeping.OpenDump(ctx, options, file)
	if err != nil {
		t.Fatal(err)
	}
	options.Progress = func(int) { cancel() }
	if _, err := dump.Load(ctx, options); !errors.Is(err, context.Canceled) {
		t.Fatalf("the load returned %v", err)
	}
	if err := dump.Close(); err != nil {
		t.Fatal(err)
	}
}

// As on one machine: root maintains the store of a service that has a user of its own.
func TestAStoreThatRootWritesBelongsToItsService(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("SKIPPED: only root gives files to other users")
	}
	on := operator{t, "127.0.0.1:1"}
	data, dump := t.TempDir(), filepath.Join(t.TempDir(), "waybook.dump")
	file, backup := filepath.Join(data, "waybook.db"), filepath.Join(t.TempDir(), "backup.tar")
	const user, group = 61_184, 61_185 // of nobody
	if err := os.Chown(data, user, group); err != nil {
		t.Fatal(err)
	}
	for _, each := range []struct {
		name    string
		before  func() error
		command []string
	}{
		{"a new store", nil, []string{"prepare"}},
		{"a compaction", nil, []string{"compact"}},
		{"a dump", nil, []string{"dump", dump}},
		{"a restore over a store", func() error { return pack(file, backup) }, []string{"restore", backup}},
		{"a restore into an empty directory", func() error { return removeAll(data) }, []string{"restore", backup}},
		{"a load into an empty directory", func() error { return removeAll(data) }, []string{"load", dump}},
	} {
		if each.before != nil {
			if err := each.before(); err != nil {
				t.Fatal(err)
			}
		}
		on.must(append(append([]string{"store"}, each.command...), "--data", data)...)
		found, err := filepath.Glob(filepath.Join(data, "*"))
		if err != nil || len(found) == 0 {
			t.Fatalf("after %s there is %v: %v", each.name, found, err)
		}
		for _, path := range found {
			info, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			if owner, ok := info.Sys().(*syscall.Stat_t); !ok || owner.Uid != user || owner.Gid != group {
				t.Errorf("after %s, %s belongs to %d:%d", each.name, filepath.Base(path), owner.Uid, owner.Gid)
			}
		}
	}
}

// removeAll removes the files of a directory.
func removeAll(directory string) error {
	found, err := filepath.Glob(filepath.Join(directory, "*"))
	for _, path := range found {
		err = errors.Join(err, os.Remove(path))
	}
	return err
}
