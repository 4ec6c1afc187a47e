package ctl_test

import (
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/waybook/waybook/e2e/launch"
)

// This is the exercise of docs/operations.md: dump a store with demo content, load it elsewhere,
// and serve from there.
func TestARestoredStoreServesTheSameContent(t *testing.T) {
	data, restored := filepath.Join(t.TempDir(), "data"), filepath.Join(t.TempDir(), "restored")
	file := filepath.Join(t.TempDir(), "waybook.dump")
	on := operator{t, "127.0.0.1:1"}
	standalone := filepath.Join(binaries, "standalone")

	waybook := launch.Start(t, standalone, data)
	cookie, err := os.ReadFile(filepath.Join(data, "demo-cookie"))
	if err != nil {
		t.Fatal(err)
	}
	session := strings.TrimSpace(string(cookie))
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
	on.run("", "store", "dump", file, "--data", data).expect(1, "stop it first")
	if status := waybook.End(syscall.SIGTERM); status != 0 {
		t.Fatalf("standalone ended with %d", status)
	}

	var dumped, loaded struct {
		Documents   int
		Collections []struct{ Name string }
		SHA256      string
	}
	on.mustRead(&dumped, "store", "dump", file, "--data", data)
	if dumped.Documents < 30 || len(dumped.Collections) < 15 || len(dumped.SHA256) != 64 {
		t.Errorf("dumped: %+v", dumped)
	}
	on.mustRead(&loaded, "store", "load", file, "--data", restored)
	if loaded.Documents != dumped.Documents {
		t.Errorf("loaded: %+v", loaded)
	}
	if told := on.must("store", "check", "--data", restored); !strings.HasSuffix(told, "The store is clean.\n") {
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

	if err := os.Truncate(file, 1000); err != nil {
		t.Fatal(err)
	}
	on.run("", "store", "load", file, "--data", filepath.Join(t.TempDir(), "none")).expect(1, "it is truncated", "nothing was loaded")
}
