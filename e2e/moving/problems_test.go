package moving_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// listed returns the lines of a file in their order, each with a place for the name of the input.
func listed(t *testing.T, list, input string) []string {
	t.Helper()
	text, err := os.ReadFile(list)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(list); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%s: %v %v", list, info, err)
	}
	lines := strings.Split(strings.TrimSpace(strings.ReplaceAll(string(text), input, "F")), "\n")
	slices.Sort(lines)
	return lines
}

func TestTheListOfProblemsIsWhole(t *testing.T) {
	t.Parallel()
	lines := []string{anna, first, picture}
	for n := range 30 {
		lines = append(lines, fmt.Sprintf(`{"kind":"album","id":%d,"owner_id":7,"title":"x","category":99,"lat":1,"lng":2,"create_time":1204679251}`, n+100))
	}
	lines = append(lines, `{"kind":"comment","id":9,"album_id":55,"author_id":7,"text":"hi","create_time":1}`)
	file := small(t, ended(lines)...)
	waybook, list := startOn(t, t.TempDir()), filepath.Join(t.TempDir(), "problems.ndjson")
	want := []string{`{"file":"F","line":34,"kind":"comment","id":9,"field":"album_id","class":"dangling","value":"55","text":"the album 55 is not in the files","done":"left out alone"}`}
	for n := range 30 {
		want = append(want, fmt.Sprintf(`{"file":"F","line":%d,"kind":"album","id":%d,"field":"category","class":"out-of-range","value":"99","text":"99 is not from 1 to 16","done":"left out as a whole"}`, n+4, n+100))
	}
	slices.Sort(want)
	if done := run(t, "move", "check", file, "--allow", "dangling", "--problems", list); done.status != 4 {
		t.Errorf("check: status %d\n%s%s", done.status, done.out, done.notes)
	}
	expectLines(t, "check", want, listed(t, list, file))
	// A user of Waybook has the identifier of one in the files.
	if done := imported(t, waybook, small(t, ended([]string{strings.Replace(anna, "7", "8", 1), strings.NewReplacer(`"owner_id":7`, `"owner_id":8`, "first", "other").Replace(first)})...)); done.status != 0 {
		t.Fatal(done)
	}
	if done := imported(t, waybook, file, "--allow", "dangling", "--problems", list, "--force"); done.status != 4 {
		t.Errorf("import: status %d\n%s%s", done.status, done.out, done.notes)
	}
	want = append(want, `{"file":"F","line":2,"kind":"album","id":1,"field":"","class":"OWNER_CHANGED","value":"","text":"it was moved in for another owner, and its identifier names the place of that user; keep that owner in the files, or give it another identifier","done":"left out as a whole"}`)
	slices.Sort(want)
	expectLines(t, "import", want, listed(t, list, file))
}

// expectLines compares lines, and shows those that only one side has.
func expectLines(t *testing.T, what string, want, got []string) {
	t.Helper()
	without := func(from, these []string) []string {
		return slices.DeleteFunc(slices.Clone(from), func(line string) bool { return slices.Contains(these, line) })
	}
	if !slices.Equal(want, got) {
		t.Errorf("%s lacks\n%s\nand has too many\n%s", what, strings.Join(without(want, got), "\n"), strings.Join(without(got, want), "\n"))
	}
}
