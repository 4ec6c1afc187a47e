package versions

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waybook/waybook/e2e/launch"
	"github.com/waybook/waybook/internal/longform"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
)

// upgrade runs deploy/drills/upgrade from the older to the present version.
func upgrade(t *testing.T, args ...string) (printed string, ok bool) {
	t.Helper()
	scratch := t.TempDir()
	script := exec.CommandContext(t.Context(), "../../deploy/drills/upgrade", args...)
	script.Env = append(os.Environ(), "TMPDIR="+scratch, "BIN="+filepath.Dir(programs.present))
	output, err := script.CombinedOutput()
	if left := launch.List(t, scratch); len(left) > 0 {
		t.Errorf("the drill left %v", left)
	}
	return string(output), err == nil
}

func TestTheUpgradeDrillFindsEverythingInAStoreOfTheOlderVersion(t *testing.T) {
	longform.Only(t)
	skipWithoutOlder(t)
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("SKIPPED: there is no curl, which the drills need")
	}
	backup := filepath.Join(t.TempDir(), "backup.tar")
	older := launch.Start(t, programs.older, t.TempDir(), "-demo=false")
	albums := launch.CreateAlbums(t, launch.Dial(t, older.GRPC), "相簿", 3)
	shown, err := albumv1.NewAlbumServiceClient(launch.Dial(t, older.GRPC)).GetAlbum(t.Context(), &albumv1.GetAlbumRequest{AlbumId: albums[0]})
	if err != nil {
		t.Fatal(err)
	}
	list := fmt.Sprintf("func=getUserAlbumList&userID=%d", shown.GetAlbum().GetOwner().GetUserId())
	album := fmt.Sprintf("func=getAlbum&albumID=%d", albums[1])
	if reply := launch.Get(t, "http://"+older.HTTP+"/API.php?"+list); strings.Count(reply, "相簿") != 3 {
		t.Fatalf("the older version replies %s", reply)
	}
	made := exec.CommandContext(t.Context(), filepath.Join(filepath.Dir(programs.present), "waybookctl"), "--address", older.GRPC, "store", "backup", backup)
	if output, err := made.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	if status := older.End(os.Interrupt); status != 0 {
		t.Fatalf("status %d", status)
	}

	printed, ok := upgrade(t, programs.older, programs.present, backup, list, album)
	if !ok || strings.Contains(printed, "CHANGED") || strings.Contains(printed, "NO ROLLBACK") || !strings.HasSuffix(printed, "ok\n") {
		t.Errorf("the drill printed:\n%s", printed)
	}
	printed, ok = upgrade(t, startingOnce(t, programs.older), programs.present, backup, list, album)
	if !ok || !strings.Contains(printed, "NO ROLLBACK") || !strings.HasSuffix(printed, "ok\n") {
		t.Errorf("without a way back, the drill printed:\n%s", printed)
	}
	if printed, ok := upgrade(t, programs.older, programs.present, backup, "func=getAlbum&albumID=1"); ok || !strings.Contains(printed, "the old version replies") {
		t.Errorf("with a query of nothing, the drill printed:\n%s", printed)
	}
	if printed, ok := upgrade(t, programs.older, "/bin/false", backup, list); ok || !strings.Contains(printed, "does not start") {
		t.Errorf("with a new version that does not start, the drill printed:\n%s", printed)
	}
}

// startingOnce returns a program that does what another one does, the first time that it is started.
func startingOnce(t *testing.T, program string) string {
	t.Helper()
	once := filepath.Join(t.TempDir(), "once")
	script := fmt.Sprintf("#!/bin/sh\nmkdir %q || exit 1\nexec %q \"$@\"\n", once+".started", program)
	if err := os.WriteFile(once, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	return once
}
