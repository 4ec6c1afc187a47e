package console_test

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/png"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/waybook/waybook/e2e/launch"
	"github.com/waybook/waybook/internal/longform"
	photov1 "github.com/waybook/waybook/proto/gen/waybook/photo/v1"
)

func TestTheReadingViewsShowContentWithAllOfItsParts(t *testing.T) {
	process := start(t)
	user, _ := demoSession(t, process)
	seen := known{}
	for _, list := range []string{"getUserAlbumList", "getUserBlogList"} {
		seen.note(operation{}, ask(t, process, http.MethodGet, "/API.php?func="+list+"&userID="+user, "").Body)
	}
	seen.note(operation{}, ask(t, process, http.MethodGet, "/API.php?func=getCategoryPOIList&category=2", "").Body)
	p := open(t, process, "#/read/user/"+user)
	p.awaitElement(id("album-card"))
	p.awaitElement(id("blog-card"))
	p.shot("read-user")
	for place, parts := range map[string][]string{
		"album/" + seen["albumID"]:  {"photos", "photo", "comments", "comment", "reply", "score", "place"},
		"blog/" + seen["blogID"]:    {"entry-text", "vote", "choice", "score", "place"},
		"landmark/" + seen["POIID"]: {"score", "place"},
	} {
		kind, _, _ := strings.Cut(place, "/")
		p.visit("#/read/" + place)
		for _, part := range parts {
			p.awaitElement(id(part))
		}
		p.shot("read-" + kind)
	}
	p.visit("#/read/album/1")
	p.awaitText(id("failure"), "This album does not exist")
}

func TestThePhotosOfAnOldServiceAreShown(t *testing.T) {
	longform.Only(t)
	folder := t.TempDir()
	var picture bytes.Buffer
	if err := png.Encode(&picture, image.NewGray(image.Rect(0, 0, 7, 5))); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(folder, "upload"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "upload/1.png"), picture.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.StripPrefix("/old/", http.FileServer(http.Dir(folder))))
	defer server.Close()
	showPhoto(t, start(t, "-console-photos", server.URL+"/old/"))
}

func TestAnAlbumPrintsWithAllOfItsPhotosAndWithoutTheRestOfThePage(t *testing.T) {
	longform.Only(t)
	process := start(t)
	connection := launch.Dial(t, process.GRPC)
	owner := launch.CreateUser(t, connection, "owner")
	album := launch.CreateAlbumsOf(t, connection, owner, "album", 1)[0]
	const photos = 30 // more than are shown at first
	for range photos {
		if _, err := photov1.NewPhotoServiceClient(connection).AddPhoto(t.Context(), &photov1.AddPhotoRequest{
			ActorId: owner, Parent: &photov1.AddPhotoRequest_AlbumId{AlbumId: album}, Url: "https://photos.example/1.png",
		}); err != nil {
			t.Fatal(err)
		}
	}
	p := openOn(t, screen{width: 1280, height: 900, scheme: "dark"}, process, fmt.Sprintf("#/read/album/%d", album))
	p.awaitElement(id("more-photos"))
	value[bool](p, `(dispatchEvent(new Event('beforeprint')), true)`)
	p.call("print", func(ctx context.Context) error {
		_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"})
		return err
	})
	p.await("all photos", fmt.Sprintf(`document.querySelectorAll('[data-testid="photo"]').length === %d`, photos))
	for _, hidden := range []string{".bar", ".read-ways", ".read-foot"} {
		if isShown := value[bool](p, `document.querySelector(`+quoted(hidden)+`).checkVisibility()`); isShown {
			t.Errorf("%s is on the paper", hidden)
		}
	}
	if p.brightness() < 128 {
		t.Error("the paper is dark")
	}
	p.shot("read-print")
}

// showPhoto opens an album with a photo under an address of an old service.
func showPhoto(t *testing.T, process *launch.Process) {
	t.Helper()
	connection := launch.Dial(t, process.GRPC)
	owner := launch.CreateUser(t, connection, "owner")
	album := launch.CreateAlbumsOf(t, connection, owner, "album", 1)[0]
	if _, err := photov1.NewPhotoServiceClient(connection).AddPhoto(t.Context(), &photov1.AddPhotoRequest{
		ActorId: owner, Parent: &photov1.AddPhotoRequest_AlbumId{AlbumId: album}, Url: "upload/1.png",
	}); err != nil {
		t.Fatal(err)
	}
	p := open(t, process, fmt.Sprintf("#/read/album/%d", album))
	p.awaitElement(id("photo") + ` img[src$="/upload/1.png"]`)
	p.await("the photo", `document.querySelector('img[src$="/upload/1.png"]').naturalWidth === 7`)
}
