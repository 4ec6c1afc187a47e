package operations_test

import (
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/waybook/waybook/e2e/launch"
)

// drill runs deploy/drills/restore with further variables in its environment. It returns what the
// drill printed, and whether it succeeded. It fails the test if the drill leaves something behind.
func drill(t *testing.T, variables []string, args ...string) (printed string, ok bool) {
	t.Helper()
	scratch := t.TempDir()
	script := exec.CommandContext(t.Context(), "../../deploy/drills/restore", args...)
	script.Env = append(append(os.Environ(), "BIN="+binaries, "TMPDIR="+scratch), variables...)
	output, err := script.CombinedOutput()
	if left := launch.List(t, scratch); len(left) > 0 {
		t.Errorf("the drill left %v", left)
	}
	return string(output), err == nil
}

// The exercise of docs/operations.md: back up, lose the data directory, try the restore, restore.
func TestTheRestoreDrillFindsEverythingAfterTheLossOfTheDataDirectory(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("SKIPPED: there is no curl, which the drills need")
	}
	data, backups := filepath.Join(t.TempDir(), "data"), t.TempDir()
	standalone := filepath.Join(binaries, "standalone")
	waybook := launch.Start(t, standalone, data)
	on := operator{t, waybook.GRPC}
	session := strings.TrimSpace(readFile(t, filepath.Join(data, "demo-cookie")))
	owner := regexp.MustCompile(`id=(\d+);`).FindStringSubmatch(session)[1]
	query := "func=getUserAlbumList&userID=" + owner
	on.must("store", "backup", backups, "--keep", "2")

	if printed, ok := drill(t, []string{"LIVE=http://" + waybook.HTTP, "WAYBOOK_DATA=/nowhere"}, backups, query); !ok {
		t.Errorf("beside the running system:\n%s", printed)
	}
	reply := call(t, waybook.HTTP, session, url.Values{
		"func": {"addAlbum"}, "albumTitle": {"after the backup"}, "category": {"1"}, "lat": {"1"}, "lng": {"2"},
	})
	if !strings.Contains(reply, "SUCCESS") {
		t.Fatal(reply)
	}
	if printed, ok := drill(t, []string{"LIVE=http://" + waybook.HTTP}, backups, query); ok || !strings.Contains(printed, "differs from that of the running system") {
		t.Errorf("with content that the backup lacks:\n%s", printed)
	}
	on.must("store", "backup", backups, "--keep", "2")
	if status := waybook.End(syscall.SIGTERM); status != 0 {
		t.Fatalf("standalone ended with %d", status)
	}
	before, after, photos := filepath.Join(t.TempDir(), "before"), filepath.Join(t.TempDir(), "after"), t.TempDir()
	if done := on.run("", "store", "dump", before, "--data", data, "--photos", photos); done.status != 0 || strings.Contains(done.err, "stay behind") {
		t.Errorf("a dump with photos ends with %d: %s", done.status, done.err)
	}
	if err := os.RemoveAll(data); err != nil {
		t.Fatal(err)
	}

	printed, ok := drill(t, nil, backups, query)
	if !ok || !strings.Contains(printed, "check every document") || !strings.HasSuffix(printed, "ok\n") {
		t.Errorf("without the data directory:\n%s", printed)
	}
	if printed, ok := drill(t, []string{"PHOTOS=" + photos}, before, query); !ok {
		t.Errorf("of a dump:\n%s", printed)
	}
	on.must("store", "restore", backups, "--data", data)
	if done := on.run("", "store", "dump", after, "--data", data); done.status != 0 || !strings.Contains(done.err, "files of photos and icons stay behind") {
		t.Errorf("a dump without photos ends with %d: %s", done.status, done.err)
	}
	if readFile(t, before) != readFile(t, after) {
		t.Error("the restored store differs from the lost one")
	}
	for what, args := range map[string][]string{
		"the reply is no success": {backups, "func=getAlbum&albumID=1"},
		"usage":                   nil,
		"no file that":            {filepath.Join(binaries, "standalone")},
	} {
		if printed, ok := drill(t, nil, args...); ok || what != "usage" && !strings.Contains(printed, what) || what == "usage" && !strings.Contains(printed, "BACKUP [QUERY...]") {
			t.Errorf("%v: %t, want %s:\n%s", args, ok, what, printed)
		}
	}
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	contents, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(contents)
}
