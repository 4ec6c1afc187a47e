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
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"github.com/waybook/waybook/internal/longform"
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
	folder := t.TempDir()
	for i := range 4 {
		writePhoto(t, filepath.Join(folder, fmt.Sprintf("upload/album/demo/thumb_%d.jpg", i+1)), i)
	}
	server := httptest.NewServer(http.FileServer(http.Dir(folder)))
	defer server.Close()
	process := start(t, "-console-photos", server.URL+"/")
	made := fillTravels(t, process)
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
