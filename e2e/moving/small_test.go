package moving_test

import (
	"fmt"
	"strings"
	"testing"

	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
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
	to, at := servicesOf(t, waybook), &typev1.Location{Lat: 1, Lng: 2}
	if _, err := to.album.CreateAlbum(t.Context(), &albumv1.CreateAlbumRequest{OwnerId: 7, Title: "own", Category: 1, Location: at}); err != nil {
		t.Fatal(err)
	}
	if _, err := to.poi.CreatePoi(t.Context(), &poiv1.CreatePoiRequest{OwnerId: 7, Name: "own", Category: 1, Location: at}); err != nil {
		t.Fatal(err)
	}
	if _, err := to.album.AddComment(t.Context(), &albumv1.AddCommentRequest{AuthorId: 7, AlbumId: 2, Text: "later"}); err != nil {
		t.Fatal(err)
	}
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
	exported := succeed(t, "move", "export", "--address", socket(waybook), "-")
	for _, want := range []string{`{"kind":"user","id":5000,`, `{"kind":"album","id":5000,`, `{"kind":"landmark","id":5000,`, `{"kind":"comment","id":5000,`, `{"kind":"album","id":2,`} {
		if !strings.Contains(exported, want) {
			t.Errorf("the export lacks %s:\n%s", want, fmt.Sprint(exported))
		}
	}
}
