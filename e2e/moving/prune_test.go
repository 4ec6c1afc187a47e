package moving_test

import (
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/waybook/waybook/e2e/launch"
	"github.com/waybook/waybook/internal/longform"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// gallery is a user with albums, entries and landmarks, as many of each.
func gallery(count int) (lines []string) {
	lines = []string{anna}
	for n := 1; n <= count; n++ {
		lines = append(lines,
			fmt.Sprintf(`{"kind":"album","id":%d,"owner_id":7,"title":"album","category":1,"lat":1,"lng":2,"create_time":1204679251}`, n),
			fmt.Sprintf(`{"kind":"comment","id":%d,"album_id":%d,"author_name":"guest","text":"comment","create_time":1204679251}`, n, n),
			fmt.Sprintf(`{"kind":"entry","id":%d,"author_id":7,"type":"0_2","lat":1,"lng":2,"title":"entry","content":"x","post_date":"2099-01-01","weather":"有彩虹","quoted_id":%d,"create_time":1204679251}`, n, n%count+1),
			fmt.Sprintf(`{"kind":"landmark","id":"p %d","owner_id":7,"name":"landmark","category":1,"lat":1,"lng":2,"create_time":1204679251}`, n))
	}
	return lines
}

// without returns the lines that do not have any of some texts.
func without(lines []string, texts ...string) (left []string) {
	for _, line := range lines {
		isIn := true
		for _, text := range texts {
			isIn = isIn && !strings.Contains(line, text)
		}
		if isIn {
			left = append(left, line)
		}
	}
	return left
}

// there returns which of some albums, entries and landmarks Waybook shows, such as albumID 1.
func there(t *testing.T, at *launch.Process, names ...string) (found []string) {
	t.Helper()
	for _, name := range names {
		parameter, id, _ := strings.Cut(name, " ")
		function := map[string]string{"albumID": "getAlbum", "blogID": "getBlog", "POIID": "getPOI"}[parameter]
		if strings.Contains(post(t, at, "", url.Values{"func": {function}, parameter: {id}}), "SUCCESS") {
			found = append(found, name)
		}
	}
	return found
}

func TestAPruneDeletesWhatDisappearedFromTheOldService(t *testing.T) {
	t.Parallel()
	whole, list := gallery(20), filepath.Join(t.TempDir(), "problems.ndjson")
	waybook := startOn(t, t.TempDir())
	if done := imported(t, waybook, small(t, ended(whole)...)); done.status != 0 {
		t.Fatal(done)
	}
	albums := servicesOf(t, waybook).album
	if _, err := albums.UpdateAlbum(t.Context(), &albumv1.UpdateAlbumRequest{ActorId: 7, AlbumId: 2, Title: new("new")}); err != nil {
		t.Fatal(err)
	}
	if _, err := albums.AddComment(t.Context(), &albumv1.AddCommentRequest{AuthorId: 7, AlbumId: 3, Text: "later"}); err != nil {
		t.Fatal(err)
	}
	if _, err := albums.CreateAlbum(t.Context(), &albumv1.CreateAlbumRequest{OwnerId: 7, Title: "own", Category: 1, Location: &typev1.Location{Lat: 1, Lng: 2}}); err != nil {
		t.Fatal(err)
	}
	names := []string{"albumID 1", "albumID 2", "albumID 3", "blogID 1", "POIID p 1", "albumID 4", "blogID 2"}
	left := without(whole, `"album","id":1,`, `"album_id":1,`, `"album","id":2,`, `"album_id":2,`, `"album","id":3,`, `"album_id":3,`, `"id":"p 1"`, `"entry","id":1,`)
	for n, line := range left {
		left[n] = strings.Replace(line, `,"quoted_id":1,`, ",", 1)
	}
	file := small(t, ended(left)...)
	refused := imported(t, waybook, file, "--prune", "--max-removed", "0.01", "--update")
	if refused.status != 4 || !strings.Contains(refused.notes, "would delete 1 of 20 albums, 1 of 20 entries, 1 of 20 landmarks") {
		t.Errorf("status %d\n%s%s", refused.status, refused.out, refused.notes)
	}
	broken := imported(t, waybook, small(t, append(left, `{"kind":"album"`)...), "--prune", "--yes")
	if broken.status != 4 || !strings.Contains(broken.notes, "a line that cannot be read") {
		t.Errorf("status %d\n%s%s", broken.status, broken.out, broken.notes)
	}
	dry := imported(t, waybook, file, "--prune", "--dry-run", "--update", "--problems", list)
	lines := strings.Join(listed(t, list, file), "\n")
	if dry.status != 0 || !strings.Contains(dry.notes, "to delete: album 1 is not in the files") || strings.Count(lines, `"done":"deleted"`) != 3 || strings.Count(lines, `"done":"kept"`) != 2 {
		t.Errorf("status %d\n%s%s%s", dry.status, dry.out, dry.notes, lines)
	}
	if found := there(t, waybook, names...); len(found) != len(names) {
		t.Errorf("there is only %q", found)
	}
	for n := range 2 {
		done := imported(t, waybook, file, "--prune", "--update")
		if done.status != 0 || strings.Contains(done.out, "PRUNED") != (n == 0) || !strings.Contains(strings.Join(strings.Fields(done.out), " "), "AND KEPT KIND 2 album") {
			t.Errorf("status %d\n%s%s", done.status, done.out, done.notes)
		}
		if found := strings.Join(there(t, waybook, names...), ", "); found != "albumID 2, albumID 3, albumID 4, blogID 2" {
			t.Errorf("there is %s", found)
		}
	}
}

func TestAPruneThatIsKilledEndsInTheSameStore(t *testing.T) {
	t.Parallel()
	count, deaths := longform.Number(120, 300), longform.Number(3, 6)
	data := t.TempDir()
	waybook, journal := startOn(t, data), filepath.Join(t.TempDir(), "journal")
	whole := gallery(count)
	if done := imported(t, waybook, small(t, ended(whole)...)); done.status != 0 {
		t.Fatal(done)
	}
	left := whole[:1+4*count/2]
	left[len(left)-2] = strings.Replace(left[len(left)-2], fmt.Sprintf(`,"quoted_id":%d,`, count/2+1), ",", 1)
	args := []string{"move", "import", "--address", socket(waybook), "--journal", journal, "--update", "--prune", "--max-removed", "0.5", small(t, ended(left)...)}
	for n := range deaths {
		command := waybookctl(t, args...)
		if err := command.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(100+rand.IntN(5*count)) * time.Millisecond)
		if err := command.Process.Kill(); err != nil {
			t.Logf("the import ended before it was killed: %v", err)
		}
		if err := command.Wait(); err != nil {
			t.Log(err)
		}
		if n == deaths/2 {
			waybook.End(os.Kill)
			waybook = startOn(t, data)
			args[3] = socket(waybook)
		}
	}
	succeed(t, args...)
	for n := 1; n <= count; n++ {
		names := []string{fmt.Sprintf("albumID %d", n), fmt.Sprintf("blogID %d", n), fmt.Sprintf("POIID p %d", n)}
		if found := there(t, waybook, names...); len(found) != map[bool]int{true: 3, false: 0}[n <= count/2] {
			t.Fatalf("there is %q", found)
		}
	}
}
