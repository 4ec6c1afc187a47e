package moving_test

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/waybook/waybook/e2e/launch"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
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

// recommend recommends an album, an entry or a landmark.
func recommend(t *testing.T, at *launch.Process, noun, item, by string) {
	t.Helper()
	id, user := number(t, item), number(t, by)
	var err error
	switch to := servicesOf(t, at); noun {
	case "album":
		_, err = to.album.Recommend(t.Context(), &albumv1.RecommendRequest{UserId: user, AlbumId: id})
	case "entry":
		_, err = to.blog.Recommend(t.Context(), &blogv1.RecommendRequest{UserId: user, BlogId: id})
	default:
		_, err = to.poi.Recommend(t.Context(), &poiv1.RecommendRequest{UserId: user, PoiId: id})
	}
	if err != nil {
		t.Fatal(err)
	}
}

// servicesOf returns the services of a standalone that was started with -grpc= alone.
func servicesOf(t *testing.T, at *launch.Process) services {
	t.Helper()
	connection := launch.Dial(t, socket(at))
	return services{albumv1.NewAlbumServiceClient(connection), blogv1.NewBlogServiceClient(connection), poiv1.NewPoiServiceClient(connection)}
}

type services struct {
	album albumv1.AlbumServiceClient
	blog  blogv1.BlogServiceClient
	poi   poiv1.PoiServiceClient
}

func number(t *testing.T, text string) int64 {
	t.Helper()
	parsed, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
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
				for _, by := range users[1:] {
					recommend(t, from, noun, item, by)
				}
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
