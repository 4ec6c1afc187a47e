package moving_test

import (
	"fmt"
	"strings"
	"testing"
)

// What is made in Waybook under small identifiers is not taken for what was moved in.
func TestWhatIsMadeUnderSmallIdentifiersIsKnownFromWhatWasMovedIn(t *testing.T) {
	t.Parallel()
	whole := gallery(20)
	for n, line := range whole {
		whole[n] = strings.Replace(line, `"id":"p `, `"id":"`, 1)
	}
	waybook := startOn(t, t.TempDir(), "-small-ids-from", "5000", "-ids", "old")
	if done := imported(t, waybook, small(t, ended(whole)...)); done.status != 0 {
		t.Fatal(done)
	}
	succeed(t, "user", "create", "--address", socket(waybook), "Ben")
	for _, kind := range []string{"album", "landmark"} {
		succeed(t, kind, "create", "--address", socket(waybook), "--as", "7", "own", "--category", "1", "--lat", "1", "--lng", "2")
	}
	succeed(t, "album", "comment", "add", "--address", socket(waybook), "--as", "7", "2", "later")
	file := small(t, ended(without(whole, `"album","id":1,`, `"album_id":1,`))...)
	if done := imported(t, waybook, file, "--prune", "--update"); done.status != 0 || !strings.Contains(done.out, "PRUNED") {
		t.Errorf("status %d\n%s%s", done.status, done.out, done.notes)
	}
	if found := strings.Join(there(t, waybook, "albumID 1", "albumID 2", "albumID 5000", "POIID 5000"), ", "); found != "albumID 2, albumID 5000, POIID 5000" {
		t.Errorf("there is %s", found)
	}
	if reply := album(t, waybook, "2"); !strings.Contains(reply, "<comment>later</comment>") {
		t.Errorf("the import removed a comment that was made here: %s", reply)
	}
	verified := run(t, "move", "verify", "--address", socket(waybook), "http://"+waybook.HTTP, file)
	if text := strings.Join(strings.Fields(verified.out), " "); !strings.Contains(text, "MADE IN WAYBOOK KIND 1 user 1 album 1 landmark") || strings.Contains(text, "is not in the files") {
		t.Errorf("status %d\n%s%s", verified.status, verified.out, verified.notes)
	}
	exported := succeed(t, "move", "export", "--address", socket(waybook), "-")
	for _, want := range []string{`{"kind":"user","id":5000,`, `{"kind":"album","id":5000,`, `{"kind":"landmark","id":5000,`, `{"kind":"comment","id":5000,`, `{"kind":"album","id":2,`} {
		if !strings.Contains(exported, want) {
			t.Errorf("the export lacks %s:\n%s", want, fmt.Sprint(exported))
		}
	}
}
