package moving_test

import (
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waybook/waybook/e2e/launch"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
)

// imported runs an import of a file with a journal of its own.
func imported(t *testing.T, at *launch.Process, file string, more ...string) ran {
	t.Helper()
	args := []string{"move", "import", "--address", socket(at), "--journal", filepath.Join(t.TempDir(), "journal"), file}
	return run(t, append(args, more...)...)
}

// album reads an album as clients do.
func album(t *testing.T, at *launch.Process, id string) string {
	t.Helper()
	return post(t, at, "", url.Values{"func": {"getAlbum"}, "albumID": {id}})
}

// discussion is a user with two albums, and comments on both.
func discussion() (lines []string) {
	lines = []string{anna, first, second, picture}
	for n := range 40 {
		lines = append(lines, fmt.Sprintf(`{"kind":"comment","id":%d,"album_id":%d,"author_name":"guest","text":"comment %d","create_time":1204679251}`, n+1, n%2+1, n+1))
	}
	return lines
}

// ended adds the end record of some lines.
func ended(lines []string) []string {
	counts := map[string]int{}
	for _, line := range lines {
		kind, _, _ := strings.Cut(strings.TrimPrefix(line, `{"kind":"`), `"`)
		counts[kind]++
	}
	end := `{"kind":"end"`
	for kind, count := range counts {
		end += fmt.Sprintf(`,"%s":%d`, kind, count)
	}
	return append(lines[:len(lines):len(lines)], end+"}")
}

func TestAnUpdateFromAFileThatWasCutOffRemovesNothing(t *testing.T) {
	t.Parallel()
	whole := discussion()
	waybook := startOn(t, t.TempDir())
	if done := imported(t, waybook, small(t, ended(whole)...)); done.status != 0 {
		t.Fatalf("%d\n%s%s", done.status, done.out, done.notes)
	}
	before := album(t, waybook, "1")
	for _, more := range [][]string{{"--dry-run"}, {"--yes"}} {
		done := imported(t, waybook, small(t, whole[:10]...), append(more, "--update")...)
		if done.status != 4 || !strings.Contains(done.notes, "34 of 40 comments") || !strings.Contains(done.notes, "--max-removed") {
			t.Errorf("%v: status %d\n%s%s", more, done.status, done.out, done.notes)
		}
		if after := album(t, waybook, "1"); after != before {
			t.Errorf("%v: the album was\n%s\nand is\n%s", more, before, after)
		}
	}
	// What the owner means is done, and counted.
	cut := small(t, ended(append(whole[:3:3], whole[5:]...))...)
	for _, more := range [][]string{{"--dry-run"}, {}} {
		done := imported(t, waybook, cut, append(more, "--update", "--max-removed", "1")...)
		if done.status != 0 || !strings.Contains(strings.Join(strings.Fields(done.out), " "), "1 photo 1 comment") {
			t.Errorf("%v: status %d\n%s%s", more, done.status, done.out, done.notes)
		}
	}
	if after := album(t, waybook, "1"); strings.Contains(after, "comment 1<") || !strings.Contains(after, "comment 3<") || strings.Contains(after, "a.jpg") {
		t.Error(after)
	}
}

func TestAFileThatIsNotWholeIsNotImported(t *testing.T) {
	t.Parallel()
	whole := ended(discussion())
	end := whole[len(whole)-1]
	waybook := startOn(t, t.TempDir())
	for name, test := range map[string]struct {
		file, want string
	}{
		"empty":   {small(t), "holds no record"},
		"lacking": {small(t, append(whole[:20:20], end)...), "40 records of kind comment, and the files have 16"},
		"extra":   {small(t, append(whole, whole[0])...), "1 records of kind user, and the files have 2"},
	} {
		t.Run(name, func(t *testing.T) {
			if done := run(t, "move", "check", test.file); done.status != 4 || !strings.Contains(done.out, test.want) {
				t.Errorf("check: status %d\n%s%s", done.status, done.out, done.notes)
			}
			for _, flag := range []string{"--dry-run", "--yes"} {
				done := imported(t, waybook, test.file, flag)
				if done.status != 4 || !strings.Contains(done.notes, test.want) {
					t.Errorf("import %s: status %d\n%s%s", flag, done.status, done.out, done.notes)
				}
			}
		})
	}
	if reply := album(t, waybook, "1"); !strings.Contains(reply, "ALBUM NOT FOUND") {
		t.Error(reply)
	}
}

func TestAFileWithoutAnEndIsImportedOnlyIfTheOwnerSaysSo(t *testing.T) {
	t.Parallel()
	file := small(t, discussion()...)
	waybook := startOn(t, t.TempDir())
	for _, args := range [][]string{{"move", "check", file}, {"move", "import", "--address", socket(waybook), "--dry-run", file}} {
		if done := run(t, args...); done.status != 0 || !strings.Contains(done.notes, "no end record") {
			t.Errorf("%v: status %d\n%s%s", args, done.status, done.out, done.notes)
		}
	}
	if done := imported(t, waybook, file); done.status != 4 || !strings.Contains(done.notes, "--yes") {
		t.Errorf("status %d\n%s%s", done.status, done.out, done.notes)
	}
	if reply := album(t, waybook, "1"); !strings.Contains(reply, "ALBUM NOT FOUND") {
		t.Error(reply)
	}
	if done := imported(t, waybook, file, "--yes"); done.status != 0 {
		t.Errorf("status %d\n%s%s", done.status, done.out, done.notes)
	}
}

// A line that cannot be read may have been any of those that the end record counts.
func TestALineThatCannotBeReadLeavesTheFileWhole(t *testing.T) {
	t.Parallel()
	lines := ended(discussion())
	lines[10] = "{\"kind\":\"comment\",\"text\":\"\xa4\xa4\"}"
	waybook := startOn(t, t.TempDir())
	if done := imported(t, waybook, small(t, lines...)); done.status != 4 || !strings.Contains(done.out, "user   1") {
		t.Errorf("status %d\n%s%s", done.status, done.out, done.notes)
	}
	if reply := album(t, waybook, "1"); !strings.Contains(reply, "comment 1<") {
		t.Error(reply)
	}
}

// What the store remembers of deletions, and for how long, is tested in e2e/rpc.
func TestWhatWasDeletedInWaybookIsListedAndStaysDeleted(t *testing.T) {
	t.Parallel()
	file, list := small(t, ended(discussion())...), filepath.Join(t.TempDir(), "problems.ndjson")
	waybook := startOn(t, t.TempDir())
	if done := imported(t, waybook, file); done.status != 0 {
		t.Fatal(done)
	}
	succeed(t, "album", "delete", "--address", socket(waybook), "1")
	for _, more := range [][]string{{}, {"--update"}, {"--dry-run"}} {
		done := imported(t, waybook, file, append(more, "--problems", list, "--force")...)
		if done.status != 0 || !strings.Contains(done.out, "DELETED") || !strings.Contains(done.notes, "album 1: the content was deleted here (DELETED)") {
			t.Errorf("%v: status %d\n%s%s", more, done.status, done.out, done.notes)
		}
		if lines := listed(t, list, file); len(lines) != 1 || !strings.Contains(lines[0], `"id":1,"field":"","class":"DELETED"`) {
			t.Errorf("%v: listed are %v", more, lines)
		}
	}
	if reply := album(t, waybook, "1"); !strings.Contains(reply, "ALBUM NOT FOUND") {
		t.Error(reply)
	}
}

func TestPhotosAndCommentsThatUsersRemovedAreListedAndStayRemoved(t *testing.T) {
	t.Parallel()
	file, list := small(t, ended(discussion())...), filepath.Join(t.TempDir(), "problems.ndjson")
	waybook := startOn(t, t.TempDir())
	if done := imported(t, waybook, file); done.status != 0 {
		t.Fatal(done)
	}
	whole := album(t, waybook, "1")
	albums := servicesOf(t, waybook).album
	if _, err := albums.RemovePhoto(t.Context(), &albumv1.RemovePhotoRequest{ActorId: 7, AlbumId: 1, PhotoId: 3}); err != nil {
		t.Fatal(err)
	}
	if _, err := albums.RemoveComment(t.Context(), &albumv1.RemoveCommentRequest{ActorId: 7, AlbumId: 1, CommentId: 3}); err != nil {
		t.Fatal(err)
	}
	before := album(t, waybook, "1")
	for _, more := range [][]string{{"--update", "--dry-run"}, {"--update"}, {"--update"}} {
		done := imported(t, waybook, file, append(more, "--problems", list, "--force")...)
		if done.status != 0 || !strings.Contains(strings.Join(strings.Fields(done.out), " "), "DELETED IN WAYBOOK KIND 1 photo 1 comment") {
			t.Errorf("%v: status %d\n%s%s", more, done.status, done.out, done.notes)
		}
		lines := listed(t, list, file)
		if len(lines) != 2 || !strings.Contains(strings.Join(lines, ""), `"field":"photos[0]","class":"DELETED","value":"","text":"it was removed here","done":"left out alone"`) {
			t.Errorf("%v: listed are %v", more, lines)
		}
	}
	if after := album(t, waybook, "1"); strings.Contains(after, "a.jpg") || strings.Contains(after, "comment 2<") || strings.Count(after, "<comment>") != strings.Count(before, "<comment>") {
		t.Errorf("the album was\n%s\nand is\n%s", before, after)
	}
	if done := imported(t, waybook, file, "--update", "--revive"); done.status != 0 || strings.Contains(done.out, "DELETED IN") {
		t.Error(done)
	}
	if after := album(t, waybook, "1"); after != whole {
		t.Errorf("the album was\n%s\nand is\n%s", whole, after)
	}
}

func TestAPhotoThatTheOldServiceMovedToAnotherAlbumComesWithASecondUpdate(t *testing.T) {
	t.Parallel()
	waybook := startOn(t, t.TempDir())
	if done := imported(t, waybook, small(t, ended([]string{anna, first, second, picture})...)); done.status != 0 {
		t.Fatal(done)
	}
	file := small(t, ended([]string{anna, first, second, strings.Replace(picture, `"album_id":1`, `"album_id":2`, 1)})...)
	for _, status := range []int{4, 0} {
		done := imported(t, waybook, file, "--update", "--max-removed", "1")
		if done.status != status || strings.Contains(done.notes, "update once more") != (status == 4) {
			t.Errorf("status %d\n%s%s", done.status, done.out, done.notes)
		}
		if strings.Contains(album(t, waybook, "1"), "a.jpg") || strings.Contains(album(t, waybook, "2"), "a.jpg") != (status == 0) {
			t.Errorf("the albums are\n%s\n%s", album(t, waybook, "1"), album(t, waybook, "2"))
		}
	}
}
