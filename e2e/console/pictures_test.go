package console_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"google.golang.org/grpc"

	"github.com/waybook/waybook/e2e/launch"
	"github.com/waybook/waybook/internal/longform"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	photov1 "github.com/waybook/waybook/proto/gen/waybook/photo/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

var update = flag.Bool("update", false, "write the pictures of docs/console.md")

// maxPictureBytes bounds a picture of the documentation.
const maxPictureBytes = 150_000

// slow are the conditions of a slow mobile connection, as in Lighthouse: 1.6 Mbit/s, 150 ms from a request to its reply.
var slow = network.Conditions{Latency: 150, DownloadThroughput: 1.6e6 / 8, UploadThroughput: 0.75e6 / 8}

// content is an element of a page's first content, by the name of the page.
func content(name string) string {
	switch name {
	case "map":
		return id("in-view") + " li"
	case "explorer":
		return id("send")
	case "health":
		return id("ready")
	case "diary":
		return id("diary-entry")
	case "home", "new", "near":
		return ".read-cards a"
	}
	return "article h1"
}

// Without -update it writes nothing; it opens the pages all the same, and says how long they take.
func TestThePicturesOfTheDocumentation(t *testing.T) {
	longform.Only(t)
	process := start(t)
	made := fillTravels(t, process)
	fillMountains(t, process, made.author)
	importLandmarks(t, process, 100_000)
	demo := views(t, process)
	p := open(t, process, "")
	for _, width := range []int64{1280, 390} {
		height := int64(800)
		p.show(screen{width: width, height: height, scheme: "light", isStill: true})
		for name, place := range map[string]string{
			"home": "#/", "new": "#/read", "near": "#/read?kind=album&near=25.034,121.5645&radius=20", "album": demo["read-album"],
			"entry": fmt.Sprintf("#/read/blog/%d", made.entry), "diary": fmt.Sprintf("#/read/user/%d?diary=2026-04", made.author),
			"map": "#/map?at=23.9,121,8", "explorer": "#/explore/getRecentAlbumList?limit=2", "health": "#/health",
		} {
			t.Logf("%d pixels wide, %s: first content after %s", width, name, p.firstContent(place, content(name)).Round(10*time.Millisecond))
			p.awaitQuiet()
			if name == "explorer" {
				p.send()
				p.click(id("reply-tab-tree"))
			}
			p.awaitSmallMaps()
			p.picture(fmt.Sprintf("console-%s-%d.jpg", name, width))
		}
	}
}

// fillMountains makes albums with a photo each, which are the newest.
func fillMountains(t *testing.T, p *launch.Process, owner int64) {
	t.Helper()
	connection := launch.Dial(t, p.GRPC)
	path := filepath.Join(t.TempDir(), "photo.jpg")
	for i, each := range []struct {
		title    string
		lat, lng float64
	}{
		{"大屯山", 25.18, 121.52}, {"大霸尖山", 24.46, 121.26}, {"合歡山", 24.14, 121.27}, {"阿里山", 23.51, 120.80}, {"玉山", 23.47, 120.96}, {"都蘭山", 22.88, 121.20},
	} {
		created, err := albumv1.NewAlbumServiceClient(connection).CreateAlbum(t.Context(), &albumv1.CreateAlbumRequest{
			OwnerId: owner, Title: each.title, Category: albumv1.AlbumCategory_ALBUM_CATEGORY_LANDSCAPES, Location: &typev1.Location{Lat: each.lat, Lng: each.lng},
		})
		if err != nil {
			t.Fatal(err)
		}
		writePhoto(t, path, i)
		photo, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		uploadPhoto(t, connection, &photov1.UploadStart{
			ActorId: owner, Parent: &photov1.UploadStart_AlbumId{AlbumId: created.GetAlbum().GetAlbumId()},
		}, photo)
	}
}

func uploadPhoto(t *testing.T, connection grpc.ClientConnInterface, start *photov1.UploadStart, photo []byte) {
	t.Helper()
	stream, err := photov1.NewPhotoServiceClient(connection).Upload(t.Context())
	if err == nil {
		err = stream.Send(&photov1.UploadRequest{Part: &photov1.UploadRequest_Start{Start: start}})
	}
	if err == nil {
		err = stream.Send(&photov1.UploadRequest{Part: &photov1.UploadRequest_Chunk{Chunk: photo}})
	}
	if err == nil {
		_, err = stream.CloseAndRecv()
	}
	if err != nil {
		t.Fatal(err)
	}
}

// awaitSmallMaps waits until the first small maps of the page have land.
func (p *page) awaitSmallMaps() {
	p.t.Helper()
	p.await("the maps", `[...document.querySelectorAll('.read-map canvas')].slice(0, 4).every(each =>
		each.getContext('2d').getImageData(0, 0, each.width, each.height).data.includes(244))`) // the red of land
}

// firstContent opens a place over a slow connection and with an empty cache, and returns how long its first content
// took. Nothing depends on it.
func (p *page) firstContent(place, selector string) time.Duration {
	p.t.Helper()
	throttle := func(conditions ...*network.Conditions) {
		p.call("throttle", func(ctx context.Context) error {
			if _, err := chromedp.Call(ctx, network.Enable, network.EnableParams{}); err != nil {
				return err
			}
			if _, err := chromedp.Call(ctx, network.ClearBrowserCache, cdp.Empty{}); err != nil {
				return err
			}
			_, err := chromedp.Call(ctx, network.EmulateNetworkConditionsByRule, network.EmulateNetworkConditionsByRuleParams{MatchedNetworkConditions: conditions})
			return err
		})
	}
	p.do("leave", chromedp.Navigate("about:blank"))
	throttle(&slow)
	defer throttle([]*network.Conditions{}...)
	start := time.Now()
	p.do("open "+place, chromedp.Navigate(p.base+place))
	p.awaitElement(selector)
	return time.Since(start)
}

// picture takes a picture for docs/console.md.
func (p *page) picture(name string) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	shot, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
	if err != nil {
		p.t.Fatal(err)
	}
	decoded, err := png.Decode(bytes.NewReader(shot))
	if err != nil {
		p.t.Fatal(err)
	}
	var small bytes.Buffer
	if err := jpeg.Encode(&small, decoded, &jpeg.Options{Quality: 70}); err != nil {
		p.t.Fatal(err)
	}
	if small.Len() > maxPictureBytes {
		p.t.Errorf("the picture %s has %d bytes", name, small.Len())
	}
	if *update {
		if err := os.WriteFile(filepath.Join("..", "..", "docs", "images", name), small.Bytes(), 0o644); err != nil {
			p.t.Fatal(err)
		}
	}
}

// writePhoto draws hills below a sky; another number has other hills.
func writePhoto(t *testing.T, path string, number int) {
	t.Helper()
	drawn := image.NewRGBA(image.Rect(0, 0, 400, 300))
	for x := range 400 {
		for y := range 300 {
			slope := (x*(number+3)/5+number*70)%240 - 120
			far := 110 + max(slope, -slope)
			shade := uint8(150 + y/4)
			pixel := color.RGBA{shade - 40, shade, 235, 255}
			switch {
			case y > 230+(x+number*90)%200/20:
				pixel = color.RGBA{uint8(60 + number*25), 110, uint8(70 + number*15), 255}
			case y > far:
				pixel = color.RGBA{uint8(100 + number*10), 140, 120, 255}
			}
			drawn.Set(x, y, pixel)
		}
	}
	var encoded bytes.Buffer
	if err := jpeg.Encode(&encoded, drawn, nil); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, encoded.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}
