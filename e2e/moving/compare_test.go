package moving_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/waybook/waybook/e2e/oldserver"
)

// compared is the output of waybookctl compare.
type compared struct {
	Operations []struct {
		Func                                       string
		Requests, Same, Allowed, Different, Unread int
		Rules                                      map[string]int
		Examples                                   []struct {
			Place, Query, Outcome, Error string
			Differences                  []struct{ Path, What, Old, New string }
		}
	}
	NotSent []struct {
		Reason string
		Count  int
	} `json:"not_sent"`
	status int
	notes  string
}

// compare runs waybookctl compare on a file with some text.
func compare(t *testing.T, old, new, file, text string, args ...string) (found compared) {
	t.Helper()
	path := filepath.Join(t.TempDir(), file)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	done := run(t, append([]string{"compare", old, new, path, "-o", "json", "--rate", "0"}, args...)...)
	if done.out != "" {
		if err := json.Unmarshal([]byte(done.out), &found); err != nil {
			t.Fatalf("%v in %s", err, done.out)
		}
	}
	found.status, found.notes = done.status, done.notes
	return found
}

// differences returns each difference as "func: path".
func (c compared) differences() (all []string) {
	for _, o := range c.Operations {
		for _, example := range o.Examples {
			for _, difference := range example.Differences {
				all = append(all, o.Func+": "+strings.TrimPrefix(difference.Path, "response/"))
			}
		}
	}
	slices.Sort(all)
	return all
}

func (c compared) count() (requests, same, allowed int) {
	for _, o := range c.Operations {
		requests, same, allowed = requests+o.Requests, same+o.Same, allowed+o.Allowed
	}
	return requests, same, allowed
}

func TestAnOldServerWithHabitsOfItsOwnDoesNotDiffer(t *testing.T) {
	t.Parallel()
	p := startStandalone(t, "-demo=false")
	w := newWorld(t, p.GRPC, p.GRPC, p.GRPC, p.GRPC)
	old := serve(t, oldserver.New(w.content))
	found := compare(t, old, "http://"+p.HTTP, "all.ids", w.ids())
	requests, _, allowed := found.count()
	if found.status != 0 || requests != 14 || allowed != requests {
		t.Errorf("status %d, %d of %d replies are allowed to differ:\n%+v", found.status, allowed, requests, found)
	}
	rules := map[string]bool{}
	for _, o := range found.Operations {
		for rule := range o.Rules {
			rules[rule] = true
		}
	}
	for _, rule := range []string{"ids", "dates", "numbers", "order", "list-order", "image-hosts", "optional", "photo-names", "failure-text", "white-space", "attributes"} {
		if !rules[rule] {
			t.Errorf("the old server needs no rule %s", rule)
		}
	}
}

func TestEachPlantedDifferenceIsFoundAndNoOther(t *testing.T) {
	t.Parallel()
	p := startStandalone(t, "-demo=false")
	w := newWorld(t, p.GRPC, p.GRPC, p.GRPC, p.GRPC)
	last, entry, landmark := w.content.Albums[w.albums[3]], w.content.Entries[w.entries[0]], w.content.Landmarks[w.landmarks[0]]
	w.content.Albums[w.albums[1]].Title = "貓 &amp; 狗"                       // escaped twice; in the list, too
	last.Photos = last.Photos[:2]                                           // a photo was lost
	last.Comments[0].At = last.Comments[0].At.Add(-time.Minute)             // a minute off
	last.Comments[1].Reply = ""                                             // a reply was lost
	last.Updated = last.Updated.AddDate(0, 0, -1)                           // another day
	w.content.Albums[w.albums[0]].Lat += 0.001                              // moved
	entry.Text = strings.ReplaceAll(entry.Text, "\t", " ")                  // white space within a text
	entry.Choices[0], entry.Choices[1] = entry.Choices[1], entry.Choices[0] // ballots name positions
	entry.Weather = "有彩虹"
	w.content.Entries[w.entries[1]].Quoted = 0
	w.content.Entries[w.entries[1]].Zoom = 14
	landmark.Photos[0].Address = "http://images.example/poi/demo.jpg?size=3"
	landmark.Owner.Name = ""
	delete(w.content.Landmarks, w.landmarks[1])
	w.content.Landmarks[99] = landmark
	w.content.LandmarksOf[4] = w.landmarks[:1]
	old := serve(t, oldserver.New(w.content))
	found := compare(t, old, "http://"+p.HTTP, "all.ids", w.ids())
	want := []string{
		"getAlbum: albumTitle", "getUserAlbumList: albumList/album2/albumTitle", "getAlbum: photos/photo3",
		"getAlbum: comments/comment3/time", "getAlbum: comments/comment2/authorReply/reply", "getAlbum: comments/comment2/authorReply/time", "getAlbum: updateDate/day", "getAlbum: Location/lat",
		"getBlog: blogContent", "getBlog: vote/choices/choice1/description", "getBlog: vote/choices/choice1/votes",
		"getBlog: vote/choices/choice2/description", "getBlog: vote/choices/choice2/votes", "getBlog: weather",
		"getBlog: replyBlogID", "getBlog: zoomLevel", "getPOI: photos/photo1/photoPath", "getPOI: ownerName",
		"getPOI: status", "getPOI: status", // a landmark that only the old server has, and one that only the new has
		"getCategoryPOIList: POIList/POI2",
	}
	got := found.differences()
	slices.Sort(want)
	if found.status != 1 || !slices.Equal(got, want) {
		t.Errorf("status %d; found\n%s\nplanted\n%s", found.status, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// alternating is an old server that shows another identifier after each request.
type alternating struct {
	*oldserver.Server
	content oldserver.Content
	id      int64
}

func (a *alternating) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.Server.ServeHTTP(w, r)
	a.content.Own[oldserver.EntryID][a.id]++
}

func TestAnIdentifierThatStandsForTwoIsADifference(t *testing.T) {
	t.Parallel()
	p := startStandalone(t, "-demo=false")
	w := newWorld(t, p.GRPC, p.GRPC, p.GRPC, p.GRPC)
	old := serve(t, oldserver.New(w.content))
	ids := fmt.Sprintf("blogID %d\n", w.entries[1])
	if found := compare(t, old, "http://"+p.HTTP, "a.ids", ids+ids); found.status != 0 {
		t.Fatalf("%+v", found)
	}
	swapping := serve(t, &alternating{oldserver.New(w.content), w.content, w.entries[0]})
	found := compare(t, swapping, "http://"+p.HTTP, "a.ids", ids+ids, "--concurrency", "1")
	if got := found.differences(); found.status != 1 || !slices.Equal(got, []string{"getBlog: replyBlogID"}) {
		t.Errorf("status %d, found %q: %s", found.status, got, found.notes)
	}
}

func TestAServerIsTheSameAsItself(t *testing.T) {
	t.Parallel()
	p := startStandalone(t, "-demo=false")
	w := newWorld(t, p.GRPC, p.GRPC, p.GRPC, p.GRPC)
	found := compare(t, "http://"+p.HTTP+"/API.php", "http://"+p.HTTP+"/", "all.ids", w.ids())
	if requests, same, _ := found.count(); found.status != 0 || same != requests || requests != 14 {
		t.Errorf("status %d: %+v", found.status, found)
	}
}
