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
	file, err := olddata.Years(1. / 40).Write(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), filepath.Join(binaries, "waybookctl"), "move", "import", file, "--address", p.GRPC) // #nosec G204 -- the test built the program
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("move import: %v\n%s", err, out)
	}
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
