package console_test

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/waybook/waybook/internal/longform"
)

// overlaps are the names of places that overlap another one on the map.
const overlaps = `(names => names.filter((a, i) => names.some((b, j) => i !== j &&
	a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom)).length)(
	[...document.querySelectorAll('.map-place')].map(each => each.getBoundingClientRect()))`

func TestTheMapNamesPlacesInBothLanguages(t *testing.T) {
	longform.Only(t)
	p := open(t, start(t), "#/map?at=23.7,120.95,7")
	for _, c := range []struct {
		language, place   string
		shown, notAsClose string
	}{
		{"en", "#/map?at=23.7,120.95,5", "Taipei", "Magong"}, {"en", "#/map?at=23.7,120.95,9", "Puli", "巴黎"},
		{"zh-Hant", "#/map?at=23.7,120.95,9", "埔里", "Puli"}, {"zh-Hant", "#/map?at=48,4,6", "巴黎", "埔里"},
	} {
		p.choose(id("language"), c.language)
		p.visit(c.place)
		p.await(c.shown, `[...document.querySelectorAll('.map-place')].some(each => each.innerText === `+quoted(c.shown)+`)`)
		if names := value[[]string](p, `[...document.querySelectorAll('.map-place')].map(each => each.innerText)`); slices.Contains(names, c.notAsClose) {
			t.Errorf("%s in %s names %v", c.place, c.language, names)
		}
		if n := value[int](p, overlaps); n > 0 {
			t.Errorf("%s in %s: %d names overlap", c.place, c.language, n)
		}
		p.shot("map-names-" + c.language + c.place[len(c.place)-1:])
	}
	// The language changes where the map is.
	p.choose(id("language"), "en")
	p.await("Paris", `[...document.querySelectorAll('.map-place')].some(each => each.innerText === 'Paris')`)
}

// passed passes requests on to a process, notes their paths, and refuses those that refuse says.
type passed struct {
	mu     sync.Mutex
	paths  []string
	refuse func(path string) bool
}

func (s *passed) note(path string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.paths = append(s.paths, path)
	return s.refuse(path)
}

// parts is how many requests had a part in their path.
func (s *passed) parts(part string) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, path := range s.paths {
		if strings.Contains(path, part) {
			n++
		}
	}
	return n
}

func TestTheFinerCoastIsLoadedWhereTheMapIsZoomedIn(t *testing.T) {
	longform.Only(t)
	process := start(t)
	seen := &passed{refuse: func(string) bool { return false }}
	pass := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: process.HTTP})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if seen.note(r.URL.Path) {
			http.Error(w, "refused", http.StatusServiceUnavailable)
			return
		}
		pass.ServeHTTP(w, r)
	}))
	defer server.Close()
	through := *process
	through.HTTP = strings.TrimPrefix(server.URL, "http://")
	p := open(t, &through, "#/map?at=23.7,120.95,6")
	p.awaitLand()
	if n := seen.parts("/coast-"); n != 0 {
		t.Errorf("zoomed out, the map loads %d parts of the finer coast", n)
	}
	p.visit("#/map?at=23.57,119.6,10") // Penghu, which the coarser coast lacks
	p.awaitLand()
	loaded := seen.parts("/coast-")
	if loaded == 0 {
		t.Error("zoomed in, the map loads no part of the finer coast")
	}
	// It is kept.
	p.visit("#/map?at=23.6,119.6,11")
	p.awaitLand()
	if n := seen.parts("/coast-"); n != loaded {
		t.Errorf("the map loads parts again: %d requests instead of %d", n, loaded)
	}
	// The coarser coast does where the finer one cannot be loaded.
	p.expect("503")
	seen.mu.Lock()
	seen.refuse = func(path string) bool { return strings.Contains(path, "/coast-") }
	seen.mu.Unlock()
	p.visit("#/map?at=48.5,4,8")
	p.awaitLand()
}

// awaitLand waits until the base map has land.
func (p *page) awaitLand() {
	p.t.Helper()
	p.await("land", `[...document.querySelectorAll('.leaflet-tile-pane canvas')].some(each =>
		each.getContext('2d').getImageData(0, 0, each.width, each.height).data.includes(244))`) // the red of land
}
