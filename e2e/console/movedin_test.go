package console_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/waybook/waybook/e2e/launch"
	"github.com/waybook/waybook/e2e/olddata"
	"github.com/waybook/waybook/internal/longform"
)

// moveIn moves in the data of an old service: some 100,000 documents.
func moveIn(t *testing.T, p *launch.Process) {
	t.Helper()
	importOld(t, p, 33)
}

// importOld moves in a part of the data of an old service.
func importOld(t *testing.T, p *launch.Process, part int) {
	t.Helper()
	if out, err := importing(t, p.GRPC, part).CombinedOutput(); err != nil {
		t.Fatalf("move import: %v\n%s", err, out)
	}
}

// importing returns the command that does so.
func importing(t *testing.T, address string, part int) *exec.Cmd {
	t.Helper()
	options := olddata.Defaults().Divided(part)
	options.Flaws = 0
	files, err := olddata.Write(t.TempDir(), "", options)
	if err != nil {
		t.Fatal(err)
	}
	args := append([]string{"move", "import", "--address", address}, files...)
	return exec.CommandContext(t.Context(), filepath.Join(binaries, "waybookctl"), args...) // #nosec G204 -- the test built the program
}

// movedIn are the fields of a reply that lead to content that was moved in.
type movedIn struct {
	BlogList  []struct{ BlogID, AuthorID int64 }
	POIList   []struct{ POIID int64 }
	AlbumList []struct{ AlbumID, OwnerID int64 }
}

func askFor(t *testing.T, p *launch.Process, query string) (found movedIn) {
	t.Helper()
	reply := ask(t, p, http.MethodGet, "/API.php?responseFormat=JSON&"+query, "")
	if err := json.Unmarshal([]byte(reply.Body), &found); err != nil {
		t.Fatalf("%s: %v", reply.Body, err)
	}
	return found
}

// The times are printed, and no one is asserted.
func TestReadingPagesAreOfAHundredThousandMovedInDocuments(t *testing.T) {
	longform.Only(t)
	process := start(t, "-demo=false")
	moveIn(t, process)
	recent := askFor(t, process, "func=getRecentAlbumList&limit=1").AlbumList
	entries := askFor(t, process, "func=getRecentBlogList&limit=1").BlogList
	landmarks := askFor(t, process, "func=getRecentPOIList&limit=1").POIList
	if len(recent) == 0 || len(entries) == 0 || len(landmarks) == 0 {
		t.Fatal("nothing was moved in")
	}
	p := open(t, process, "")
	p.expect("404") // the images of the old service are on no server
	for _, width := range []int64{1280, 390} {
		p.show(screen{width: width, height: 800, scheme: "light", isStill: true})
		for name, place := range map[string]string{
			"new": "#/read", "entries": "#/read?kind=blog", "album": fmt.Sprintf("#/read/album/%d", recent[0].AlbumID),
			"entry": fmt.Sprintf("#/read/blog/%d", entries[0].BlogID), "landmark": fmt.Sprintf("#/read/landmark/%d", landmarks[0].POIID),
			"user": fmt.Sprintf("#/read/user/%d", recent[0].OwnerID), "diary": fmt.Sprintf("#/read/user/%d?diary=", entries[0].AuthorID),
		} {
			selector := content(name)
			switch name {
			case "entries", "user":
				selector = ".read-cards a"
			case "diary":
				selector = id("diary")
			}
			t.Logf("%d pixels wide, %s: first content after %s", width, name, p.firstContent(place, selector).Round(10*time.Millisecond))
			if name != "user" { // whose cards below the screen load when they are seen
				p.awaitQuiet()
			}
			if name == "new" && width == 1280 || name == "album" && width == 390 {
				p.awaitSmallMaps()
				p.picture(fmt.Sprintf("console-moved-%s-%d.jpg", name, width))
			}
			p.shot(fmt.Sprintf("moved-%s-%d", name, width))
		}
	}
}
