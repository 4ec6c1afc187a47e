package attack

import (
	"bytes"
	"fmt"
	"image/jpeg"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waybook/waybook/e2e/launch"
	"github.com/waybook/waybook/internal/waybooktest"
)

// picture is the package that crafts the hostile files, and table what it says of each.
const (
	picture = "github.com/waybook/waybook/internal/picture"
	table   = "../../internal/picture/testdata/replies.txt"
)

// Over HTTP, each hostile file gets the reply that the table of its package has, and leaves a photo only if that is a
// success. 64 MiB is the memory that the table is for.
func TestEachHostileFileGetsTheReplyOfTheTable(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	craft := exec.CommandContext(t.Context(), "go", "test", picture, "-count=1",
		"-run=TestHostileFilesGetTheRepliesOfTheTable", "-files="+folder)
	if output, err := craft.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	text, err := os.ReadFile(table)
	if err != nil {
		t.Fatal(err)
	}
	p := launch.Start(t, standalone, t.TempDir(), "-photo-memory", fmt.Sprint(64<<20), "-user-writes=0")
	client := loggedIn(t, p)
	album := client.Post("func=addAlbum&albumTitle=x&category=1&lat=1&lng=2").MustSucceed(t).Text("albumID")
	added := 0
	for i, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		name, want, _ := strings.Cut(line, " | ")
		file, err := os.ReadFile(filepath.Join(folder, fmt.Sprintf("%03d", i)))
		if err != nil {
			t.Fatal(err)
		}
		reply := sendPhoto(client, album, file)
		isRefused := strings.HasPrefix(want, "PHOTO ")
		info, _, _ := strings.Cut(want, ":")
		switch {
		case reply.Code != http.StatusOK:
			t.Errorf("%s: got %d %s", name, reply.Code, reply.Body)
		case isRefused && reply.Text("info") != info:
			t.Errorf("%s: got %s, want %s", name, reply.Body, want)
		case !isRefused && !reply.Succeeded():
			t.Errorf("%s: got %s, want %s", name, reply.Body, want)
		case !isRefused:
			added++
			checkMade(t, p, client, name, album, reply.Text("photoID"))
		}
	}
	photos := client.Get("func=getAlbum&albumID=" + album).XML().Find("photos")
	if got := len(photos[0].Children); got != added {
		t.Errorf("the album has %d photos, and %d were added", got, added)
	}
	if memory := launch.MemoryOf(t, p); !p.Alive() || memory.Peak > 300 {
		t.Errorf("the program's peak is %.0f MiB", memory.Peak)
	}
}

// loggedIn returns a client with the session of the demo user.
func loggedIn(t *testing.T, p *launch.Process) *waybooktest.Client {
	t.Helper()
	cookie, err := os.ReadFile(filepath.Join(p.Data, "demo-cookie"))
	if err != nil {
		t.Fatal(err)
	}
	return waybooktest.ClientAt(t, p.HTTP).WithCookie(strings.TrimSpace(string(cookie)))
}

// sendPhoto adds a file to an album.
func sendPhoto(client *waybooktest.Client, album string, file []byte) waybooktest.Reply {
	const boundary = "----of-the-test-7d1c4f"
	body := bytes.Join([][]byte{
		[]byte("--" + boundary + "\r\nContent-Disposition: form-data; name=\"photo\"; filename=\"photo.jpg\"\r\n" +
			"Content-Type: image/jpeg\r\n\r\n"),
		file, []byte("\r\n--" + boundary + "--\r\n"),
	}, nil)
	request := client.Request(http.MethodPost, "func=addPhoto&albumID="+album, bytes.NewReader(body))
	request.Header.Set("Content-Type", "multipart/form-data; boundary="+boundary)
	return client.Send(request)
}

// checkMade checks that everybody gets pictures without anything else.
func checkMade(t *testing.T, p *launch.Process, client *waybooktest.Client, name, album, photo string) {
	t.Helper()
	reader := *client
	for _, size := range []string{"thumb", "view"} {
		reader.URL = fmt.Sprintf("http://%s/upload/album/%s/%s-%s.jpg", p.HTTP, album, photo, size)
		file := reader.Get("")
		if _, err := jpeg.Decode(strings.NewReader(file.Body)); err != nil || file.Header.Get("Content-Type") != "image/jpeg" {
			t.Errorf("%s: the %s is no JPEG: %v", name, size, err)
		}
		if strings.Contains(file.Body, "payload") {
			t.Errorf("%s: the %s has the payload", name, size)
		}
	}
}
