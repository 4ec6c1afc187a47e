package console_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/waybook/waybook/e2e/launch"
	"github.com/waybook/waybook/internal/longform"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

const (
	manyLandmarks = 150_000
	perMessage    = 1000
)

// importLandmarks imports landmarks that lie evenly in Taiwan.
func importLandmarks(t *testing.T, p *launch.Process, count int) {
	t.Helper()
	connection := launch.Dial(t, p.GRPC)
	owner := launch.CreateUser(t, connection, "地主")
	for first := 0; first < count; first += perMessage {
		request := &poiv1.ImportPoisRequest{OwnerId: owner}
		for i := first; i < first+perMessage; i++ {
			request.Pois = append(request.Pois, &poiv1.ImportedPoi{
				Key: fmt.Sprint("k", i), Name: fmt.Sprintf("地標 %d", i), Category: poiv1.PoiCategory(1 + i%5),
				Location: &typev1.Location{Lat: 22.2 + float64(i%387)/387*2.8, Lng: 120.3 + float64(i/387)/388*1.4},
			})
		}
		imported, err := poiv1.NewPoiServiceClient(connection).ImportPois(t.Context(), request)
		if err != nil || imported.GetCreatedCount() != perMessage {
			t.Fatalf("imported %v: %v", imported, err)
		}
	}
}

// awaitMap waits until the map has loaded what is in view.
func (p *page) awaitMap(inView string) {
	p.t.Helper()
	p.await("the map", `(map => map?.dataset.loading === 'false' && `+inView+`)(document.querySelector('[data-testid="map"]'))`)
}

// frames starts to note the times of the frames that the browser shows.
const frames = `(() => {
	window.frameTimes = []
	const note = now => { window.frameTimes.push(now); window.frameLoop = requestAnimationFrame(note) }
	window.frameLoop = requestAnimationFrame(note)
	return true
})()`

// frameTimes returns the times between frames in milliseconds, sorted.
const frameTimes = `(() => {
	cancelAnimationFrame(window.frameLoop)
	return window.frameTimes.slice(1).map((time, i) => time - window.frameTimes[i]).sort((a, b) => a - b)
})()`

func TestTheMapShows150000Landmarks(t *testing.T) {
	longform.Only(t)
	process := start(t, "-demo=false")
	importLandmarks(t, process, manyLandmarks)
	p := open(t, process, "#/map?at=23.7,120.95,7")
	p.awaitMap(fmt.Sprintf(`map.dataset.inView === '%d'`, manyLandmarks))
	p.shot("map-many")
	value[bool](p, frames)
	box := value[map[string]float64](p, `document.querySelector('[data-testid="map"]').getBoundingClientRect()`)
	x, y := box["x"]+box["width"]/2, box["y"]+box["height"]/2
	for _, to := range [][2]float64{{-200, 0}, {200, 0}, {0, -150}, {0, 150}, {-150, 100}, {150, -100}} {
		p.do("pan", chromedp.DragAndDropXY(x, y, x+to[0], y+to[1], 30))
	}
	times := value[[]float64](p, frameTimes)
	if len(times) < 20 {
		t.Fatalf("only %d frames", len(times))
	}
	t.Logf("panning: %d frames, median %.0f ms, p95 %.0f ms, longest %.0f ms",
		len(times), times[len(times)/2], times[len(times)*95/100], times[len(times)-1])
	p.awaitMap(fmt.Sprintf(`map.dataset.inView === '%d'`, manyLandmarks))

	// A closer look has fewer landmarks, and a switched-off category has none.
	p.visit("#/map?at=25.0,121.0,12")
	p.awaitMap(`Number(map.dataset.inView) > 0 && Number(map.dataset.inView) < 10_000`)
	all := value[string](p, `document.querySelector('[data-testid="map"]').dataset.inView`)
	p.click(id("category-1"))
	p.awaitMap(`map.dataset.inView !== ` + quoted(all))
	p.visit("#/map?at=25.0,121.0,17")
	p.awaitMap(`true`)
	p.shot("map-close")
}

func TestALandmarkOfTheMapOpensWithItsContent(t *testing.T) {
	longform.Only(t)
	p := open(t, start(t), "#/map")
	p.awaitMap(`Number(map.dataset.inView) > 0`)
	p.click(id("mark-landmark"))
	p.awaitElement(id("landmark-card") + ` a[href^="#/read/landmark/"]`)
	p.shot("map-landmark")
	p.click(id("close-card"))
	p.awaitElement(id("in-view"))
}

// first is the name of the first item of the list beside the map.
const first = `(document.querySelector('[data-testid="in-view"] .map-name')?.innerText ?? '')`

func TestTheMapHasAlbumsAndEntriesAndAListThatFollowsIt(t *testing.T) {
	longform.Only(t)
	process := start(t)
	fillTravels(t, process)
	p := open(t, process, "#/map?at=25.0345,121.564,13")
	p.awaitMap(`Number(map.dataset.inView) > 0`)
	p.await("what is nearest", first+` === '信義區的夜景'`)
	p.awaitText(id("in-view"), "饒河街觀光夜市")
	p.shot("map-kinds")
	// What is switched off is neither drawn nor listed.
	p.click(id("category-6"))
	p.await("no albums", `document.querySelector('[data-testid="mark-album"]') === null`)
	p.click(id("category-6"))
	p.awaitElement(id("mark-album"))
	// The list follows the map, to coordinates that are typed.
	p.fill(id("map-coordinates"), "25.16, 121.54")
	p.click(id("map-coordinates-go"))
	p.await("the entries of that place", first+` !== '信義區的夜景'`)
	p.awaitElement(id("mark-blog"))
	p.click(id("order-newest"))
	p.await("the newest entry", first+` === '花季之後'`)
	p.click(id("mark-blog"))
	p.awaitText(id("blog-card"), "陽明山的花季") // which it answers
	p.await("a link to it", `location.hash.includes('blog=')`)
	p.shot("map-entry")
	p.click(id("close-card"))
	p.awaitElement(id("in-view"))
	p.fill(id("map-coordinates"), "100, 200")
	p.click(id("map-coordinates-go"))
	p.awaitText(`[role="alert"]`, "latitude")
}

// tile is a PNG of one grey pixel.
const tile = "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x00\x00\x00\x00:~\x9bU" +
	"\x00\x00\x00\nIDATx\x9cch\x00\x00\x00\x82\x00\x81w\xcdr\xb6\x00\x00\x00\x00IEND\xaeB`\x82"

func TestTilesComeFromTheirServerWhichSeesOnlyTheSite(t *testing.T) {
	longform.Only(t)
	var mu sync.Mutex
	var referrers []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		referrers = append(referrers, r.Referer())
		mu.Unlock()
		w.Header().Set("Content-Type", "image/png")
		_, _ = w.Write([]byte(tile)) // the browser may leave
	}))
	defer server.Close()
	p := open(t, start(t, "-console-tiles", server.URL+"/{z}/{x}/{y}.png"), "#/map?at=25,121.5,12")
	p.await("tiles", `[...document.querySelectorAll('img')].some(each => each.src.startsWith(`+quoted(server.URL)+`) && each.naturalWidth === 1)`)
	p.shot("map-tiles")
	mu.Lock()
	defer mu.Unlock()
	for _, referrer := range referrers {
		if referrer != "" && referrer != p.base {
			t.Errorf("the server of tiles sees %s", referrer)
		}
	}
}
