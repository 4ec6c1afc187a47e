package programs_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/waybook/waybook/e2e/launch"
	"github.com/waybook/waybook/internal/longform"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
)

// search is a running search.
type search struct {
	t       *testing.T
	command *exec.Cmd
	address string
}

func startSearch(t *testing.T, waybook *launch.Process, index string) *search {
	t.Helper()
	services := "unix:" + filepath.Join(waybook.Data, "grpc.sock")
	s := &search{t: t, command: exec.Command(filepath.Join(binaries, "search"),
		"-http=127.0.0.1:0", "-index="+index, "-album="+services, "-blog="+services, "-poi="+services)}
	s.command.Stderr = t.Output()
	out, err := s.command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.kill)
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	_, s.address, _ = strings.Cut(strings.TrimSpace(line), "on ")
	return s
}

func (s *search) kill() {
	_ = s.command.Process.Kill() // fails if it has ended
	_ = s.command.Wait()
}

// find returns the kinds and titles that words find, with further parameters such as &kind=album.
func (s *search) find(words string, more ...string) (found []string) {
	s.t.Helper()
	response, err := http.Get(s.address + url.QueryEscape(words) + strings.Join(more, ""))
	if err != nil {
		s.t.Fatal(err)
	}
	defer response.Body.Close()
	var answer struct {
		Found []struct{ Kind, ID, Title string }
	}
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		s.t.Fatal(err)
	}
	for _, each := range answer.Found {
		found = append(found, each.Kind+" "+each.Title)
	}
	return found
}

// await waits until words find a text, or nothing.
func (s *search) await(words, want string) {
	s.t.Helper()
	for limit := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) {
		found := strings.Join(s.find(words), ", ")
		if found == want || want != "" && strings.Contains(found, want) {
			return
		}
		if time.Now().After(limit) {
			s.t.Fatalf("%q finds %q, want %q", words, found, want)
		}
	}
}

func TestSearchFollowsWhatIsWritten(t *testing.T) {
	t.Parallel()
	longform.Only(t)
	waybook := launch.Start(t, filepath.Join(binaries, "standalone"), t.TempDir(), "-grpc=")
	connection := launch.Dial(t, "unix:"+filepath.Join(waybook.Data, "grpc.sock"))
	index := filepath.Join(t.TempDir(), "index")
	s := startSearch(t, waybook, index)
	// The demo content.
	s.await("東北角", "album 東北角一日遊")
	s.await("日月潭 環湖", "entry ")
	s.await("紀念", "landmark ")

	owner := launch.CreateUser(t, connection, "找")
	id := launch.CreateAlbumsOf(t, connection, owner, "合歡山賞雪", 1)[0]
	s.await("合歡", "album 合歡山賞雪")
	for more, want := range map[string]int{
		"&kind=album&category=girls&lat=25.034&lng=121.5645&radius=1": 1, "&category=pets": 0, "&kind=entry": 0, "&lat=25&lng=121.5645": 0,
	} {
		if found := s.find("合歡", more); len(found) != want {
			t.Errorf("%s finds %q, want %d", more, found, want)
		}
	}
	// What happens while it is killed.
	s.kill()
	albums := albumv1.NewAlbumServiceClient(connection)
	if _, err := albums.UpdateAlbum(t.Context(), &albumv1.UpdateAlbumRequest{ActorId: owner, AlbumId: id, Title: proto.String("奇萊山")}); err != nil {
		t.Fatal(err)
	}
	s = startSearch(t, waybook, index)
	if found := s.find("東北角"); len(found) == 0 {
		t.Error("a started search has lost its index")
	}
	s.await("奇萊", "album 奇萊山")
	s.await("合歡", "")
	if _, err := albums.DeleteAlbum(t.Context(), &albumv1.DeleteAlbumRequest{ActorId: owner, AlbumId: id}); err != nil {
		t.Fatal(err)
	}
	s.await("奇萊", "")
}

func TestASearchOutsideItsBoundsIsRefused(t *testing.T) {
	t.Parallel()
	waybook := launch.Start(t, filepath.Join(binaries, "standalone"), t.TempDir(), "-grpc=")
	s := startSearch(t, waybook, filepath.Join(t.TempDir(), "index"))
	for _, query := range []string{strings.Repeat("a", 201), "a&limit=0", "a&limit=101", "a&limit=x"} {
		response, err := http.Get(s.address + query)
		if err := errors.Join(err, response.Body.Close()); err != nil {
			t.Fatal(err)
		}
		if response.StatusCode != http.StatusBadRequest {
			t.Errorf("%.10s gets %s", query, strconv.Itoa(response.StatusCode))
		}
	}
}
