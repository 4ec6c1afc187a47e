package moving_test

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/waybook/waybook/e2e/launch"
)

// userIDs finds the identifiers in a list of users.
var userIDs = regexp.MustCompile(`"user_id": (\d+)`)

// itemIDs finds the identifiers of albums, entries or landmarks in an export.
func itemIDs(export, kind string) (found []string) {
	for _, match := range regexp.MustCompile(`"kind":"`+kind+`","id":(\d+)`).FindAllStringSubmatch(export, -1) {
		found = append(found, match[1])
	}
	return found
}

func TestExportsOfAllUsersAreTheSameAfterAnImport(t *testing.T) {
	t.Parallel()
	from := launch.Start(t, filepath.Join(binaries, "standalone"), t.TempDir(), "-grpc=")
	to := startOn(t, t.TempDir())
	var users []string
	for _, match := range userIDs.FindAllStringSubmatch(succeed(t, "user", "list", "--address", socket(from), "-o", "json"), -1) {
		users = append(users, match[1])
	}
	// The demo content has votes of several users, and no recommendations.
	for _, user := range users {
		export := succeed(t, "user", "export", "--address", socket(from), user, "-")
		for _, noun := range []string{"album", "entry", "landmark"} {
			items := itemIDs(export, noun)
			for _, item := range items[:min(3, len(items))] {
				for _, by := range users {
					succeed(t, noun, "recommend", "--address", socket(from), "--as", by, item)
				}
				succeed(t, noun, "withdraw", "--address", socket(from), "--as", users[0], item)
			}
		}
	}
	folder := t.TempDir()
	files := []string{"move", "import", "--address", socket(to), "--journal", filepath.Join(folder, "journal")}
	exported := map[string]string{}
	var all strings.Builder
	for _, user := range users {
		file := filepath.Join(folder, user+".ndjson")
		succeed(t, "user", "export", "--address", socket(from), user, file)
		exported[user] = succeed(t, "user", "export", "--address", socket(from), user, "-")
		all.WriteString(exported[user])
		files = append(files, file)
	}
	for _, kind := range []string{"user", "album", "photo", "entry", "ballot", "comment", "landmark", "recommendation"} {
		if !strings.Contains(all.String(), fmt.Sprintf(`{"kind":"%s",`, kind)) {
			t.Errorf("the exports have nothing of the kind %s", kind)
		}
	}
	succeed(t, files...)
	for _, user := range users {
		if again := succeed(t, "user", "export", "--address", socket(to), user, "-"); again != exported[user] {
			t.Errorf("exported were\n%s\nand after an import\n%s", exported[user], again)
		}
		for noun, flag := range map[string]string{"album": "--owner", "entry": "--author"} {
			want := succeed(t, noun, "export", "--address", socket(from), flag, user, "-")
			if got := succeed(t, noun, "export", "--address", socket(to), flag, user, "-"); got != want {
				t.Errorf("%s export wrote\n%s\nand after an import\n%s", noun, want, got)
			}
		}
	}
}

// socket returns the gRPC address of a standalone that was started with -grpc= alone.
func socket(of *launch.Process) string { return "unix:" + filepath.Join(of.Data, "grpc.sock") }

func TestAnExportOfAllChangesMovesInElsewhere(t *testing.T) {
	t.Parallel()
	from := launch.Start(t, filepath.Join(binaries, "standalone"), t.TempDir(), "-grpc=")
	to := startOn(t, t.TempDir())
	export := func(at *launch.Process, more ...string) []string {
		return slices.Sorted(strings.Lines(succeed(t, append([]string{"move", "export", "--address", socket(at), "-"}, more...)...)))
	}
	all := export(from)
	file := filepath.Join(t.TempDir(), "all.ndjson")
	succeed(t, "move", "export", "--address", socket(from), "--since", time.Now().UTC().Format(time.RFC3339), file)
	succeed(t, "move", "import", "--address", socket(to), "--journal", filepath.Join(t.TempDir(), "journal"), file)
	if again := export(to); !slices.Equal(all, again) {
		t.Errorf("exported were\n%s\nand after an import\n%s", strings.Join(all, ""), strings.Join(again, ""))
	}
	if none := export(from, "--since", time.Now().Add(time.Hour).UTC().Format(time.RFC3339)); len(none) != 1 {
		t.Errorf("nothing has changed since, and exported are\n%s", strings.Join(none, ""))
	}
}
