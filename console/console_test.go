package console

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"path"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/waybook/waybook/edge"
	"github.com/waybook/waybook/internal/clients"
)

// teapot is what stands behind the console: it marks what the console did not answer.
var teapot = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })

func ready(context.Context) error { return nil }

// newConsole returns a console in front of teapot.
func newConsole(t *testing.T, changes ...func(*Config)) http.Handler {
	t.Helper()
	config := Config{
		Edge:  &edge.Config{Clients: clients.Of(nil, nil, nil, nil)},
		Ready: ready, Metrics: prometheus.NewRegistry(),
	}
	for _, change := range changes {
		change(&config)
	}
	h, err := New(config, teapot)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func get(h http.Handler, address string, headers ...string) *httptest.ResponseRecorder {
	return send(h, http.MethodGet, address, headers...)
}

// send sends a request with headers given as names and values in turn.
func send(h http.Handler, method, path string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, nil)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func tiles(t *testing.T, template string) (set Tiles) {
	t.Helper()
	if err := set.Set(template); err != nil {
		t.Fatal(err)
	}
	return set
}

func TestEverythingOfTheConsoleAllowsOnlyItsOwnFilesAndTheTiles(t *testing.T) {
	const without = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
		"font-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
	with := strings.Replace(without, "data:", "data: https://tiles.example:8443", 1)
	for name, c := range map[string]struct{ tiles, policy, referrer string }{
		"without tiles": {"", without, "no-referrer"},
		"with tiles":    {"https://tiles.example:8443/{z}/{x}/{y}.png?key=a", with, "strict-origin"},
	} {
		h := newConsole(t, func(config *Config) { config.Tiles = tiles(t, c.tiles) })
		for _, path := range []string{"/", operationsPath, healthPath} {
			w := get(h, path)
			for header, want := range map[string]string{
				"Content-Security-Policy":      c.policy,
				"Referrer-Policy":              c.referrer,
				"X-Content-Type-Options":       "nosniff",
				"Cross-Origin-Opener-Policy":   "same-origin",
				"Cross-Origin-Resource-Policy": "same-origin",
			} {
				if got := w.Header().Get(header); w.Code != http.StatusOK || got != want {
					t.Errorf("%s: %s has %s: %s", name, path, header, got)
				}
			}
			if w.Header().Get("Set-Cookie") != "" || w.Header().Get("Access-Control-Allow-Origin") != "" {
				t.Errorf("%s: %s sets a cookie or shares itself with other sites", name, path)
			}
		}
	}
}

func TestOtherPathsAndMethodsAreTheEdges(t *testing.T) {
	h := newConsole(t)
	for _, request := range []string{
		"GET /API.php", "GET /index.html", "GET /console", "GET /console/", "GET /console/assets/", "GET /console/assets/none.js",
		"GET /console/session", "POST /", "PUT /console/health.json", "OPTIONS /", "GET /console/assets/../../console.go", "GET /dist/index.html",
	} {
		method, path, _ := strings.Cut(request, " ")
		w := send(h, method, path)
		if w.Code != http.StatusTeapot || len(w.Header()) > 0 {
			t.Errorf("%s: the console answered %d with %v", request, w.Code, w.Header())
		}
	}
}

func TestTheConsoleIsAlsoBehindThePrefixOfTheEdge(t *testing.T) {
	h := newConsole(t, func(c *Config) { c.Edge.PathPrefix = "/waybook" })
	for _, address := range []string{"/waybook/", "/waybook/console/operations.json", "/waybook/console/health.json", "/"} {
		if w := get(h, address); w.Code != http.StatusOK {
			t.Errorf("%s: %d", address, w.Code)
		}
	}
	for _, address := range []string{"/waybook", "/other/", "/waybook/API.php"} {
		if w := get(h, address); w.Code != http.StatusTeapot {
			t.Errorf("%s: %d", address, w.Code)
		}
	}
	if d := described(t, func(c *Config) { c.Edge.PathPrefix = "/waybook" }); d.Paths.API != "/waybook/API.php" {
		t.Errorf("the page sends its requests to %s", d.Paths.API)
	}
}

// built is a build with one asset that compresses well and one that does not.
var built = fstest.MapFS{
	"dist/index.html":           {Data: []byte("<!doctype html>")},
	"dist/assets/index-1234.js": {Data: bytes.Repeat([]byte("let a = 1;\n"), 1000)},
	"dist/assets/dot-5678.svg":  {Data: []byte("<svg/>")},
}

func TestAssetsAreKeptForAYearAndThePageIsAskedForAgain(t *testing.T) {
	files, err := readFiles(built)
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]struct{ cache, contentType string }{
		"/":                             {"no-cache", "text/html; charset=utf-8"},
		"/console/assets/index-1234.js": {"public, max-age=31536000, immutable", "text/javascript; charset=utf-8"},
		"/console/assets/dot-5678.svg":  {"public, max-age=31536000, immutable", "image/svg+xml"},
	} {
		found := files[path]
		if found == nil {
			t.Fatalf("there is no %s", path)
		}
		w := get(found, path)
		tag := w.Header().Get("ETag")
		if w.Header().Get("Cache-Control") != want.cache || w.Header().Get("Content-Type") != want.contentType || len(tag) != 34 {
			t.Errorf("%s: %v", path, w.Header())
		}
		for header, status := range map[string]int{
			tag: 304, "W/" + tag: 304, `"x", ` + tag: 304, "*": 304, `"x"`: 200, "": 200,
		} {
			if again := get(found, path, "If-None-Match", header); again.Code != status || status == 304 && again.Body.Len() > 0 {
				t.Errorf("%s with If-None-Match %s: %d with %d bytes", path, header, again.Code, again.Body.Len())
			}
		}
		if head := send(found, http.MethodHead, path); head.Body.Len() > 0 || head.Header().Get("Content-Length") != w.Header().Get("Content-Length") {
			t.Errorf("%s: HEAD has %d bytes and %v", path, head.Body.Len(), head.Header())
		}
	}
}

func TestAssetsAreCompressedForWhoAcceptsIt(t *testing.T) {
	files, err := readFiles(built)
	if err != nil {
		t.Fatal(err)
	}
	const path = "/console/assets/index-1234.js"
	plain, zipped := get(files[path], path), get(files[path], path, "Accept-Encoding", "br, gzip")
	if plain.Header().Get("Content-Encoding") != "" || zipped.Header().Get("Content-Encoding") != "gzip" || zipped.Body.Len() > plain.Body.Len()/10 {
		t.Errorf("plain: %v, zipped: %v", plain.Header(), zipped.Header())
	}
	for _, w := range []*httptest.ResponseRecorder{plain, zipped} {
		if w.Header().Get("Vary") != "Accept-Encoding" {
			t.Errorf("Vary: %s", w.Header().Get("Vary"))
		}
	}
	reader, err := gzip.NewReader(zipped.Body)
	if err != nil {
		t.Fatal(err)
	}
	unzipped, err := io.ReadAll(reader)
	if err != nil || !bytes.Equal(unzipped, plain.Body.Bytes()) {
		t.Errorf("the compressed file is another one: %v", err)
	}
	small := get(files["/console/assets/dot-5678.svg"], "/", "Accept-Encoding", "gzip")
	if small.Header().Get("Content-Encoding") != "" || small.Body.String() != "<svg/>" {
		t.Errorf("a file that does not shrink came as %v", small.Header())
	}
}

func TestABuildWithoutAPageIsRefused(t *testing.T) {
	if _, err := readFiles(fstest.MapFS{}); err == nil {
		t.Error("there is a page in nothing")
	}
}

// The page must load with script and style from its own origin only, so it has none of its own.
func TestTheBuiltPageHasNoInlineScriptOrStyle(t *testing.T) {
	page := get(newConsole(t), "/").Body.String()
	if strings.Contains(page, "<style") || strings.Contains(page, " style=") || strings.Contains(page, "javascript:") ||
		strings.Contains(page, "<script>") || strings.Contains(page, " onload=") {
		t.Errorf("the policy of the page refuses parts of it:\n%s", page)
	}
}

// Each file that the built page names is served.
func TestTheBuiltPageNamesOnlyFilesThatAreServed(t *testing.T) {
	h := newConsole(t)
	page := get(h, "/").Body.String()
	for _, attribute := range []string{`src="`, `href="`} {
		for rest := page; ; {
			_, after, found := strings.Cut(rest, attribute)
			if !found {
				break
			}
			address, next, _ := strings.Cut(after, `"`)
			if w := get(h, path.Join("/", address)); w.Code != http.StatusOK {
				t.Errorf("%s: %d", address, w.Code)
			}
			rest = next
		}
	}
}

func TestTilesAreOneAddressOfImages(t *testing.T) {
	for template, origin := range map[string]string{
		"":                                      "",
		"https://tiles.example/{z}/{x}/{y}.png": "https://tiles.example",
		"http://127.0.0.1:8088/t?z={z}&x={x}&y={y}":    "http://127.0.0.1:8088",
		"https://a-b.tiles.example:8443/{y}/{x}/{z}@2": "https://a-b.tiles.example:8443",
	} {
		set := tiles(t, template)
		if set.String() != template || set.Origin() != origin {
			t.Errorf("%s became %s of %s", template, set, set.Origin())
		}
	}
	for _, wrong := range []string{
		"tiles.example/{z}/{x}/{y}", "ftp://tiles.example/{z}/{x}/{y}", "//tiles.example/{z}/{x}/{y}", "/{z}/{x}/{y}",
		"https://tiles.example/{z}/{x}", "https://tiles.example/{z}/{x}/{y}/{y}", "https://{s}.tiles.example/{z}/{x}/{y}",
		"https://{z}.tiles.example/{x}/{y}", "https://user:secret@tiles.example/{z}/{x}/{y}", "https:///{z}/{x}/{y}",
		"https://tiles.example;script-src *//{z}/{x}/{y}", "https://tiles.example 'unsafe-inline'/{z}/{x}/{y}", "https://*/{z}/{x}/{y}",
		"https://[::1]/{z}/{x}/{y}", "javascript:alert(1)//{z}/{x}/{y}", "https://tiles.example{z}/{x}/{y}", "https://臺.example/{z}/{x}/{y}",
		"https://tiles.example/" + strings.Repeat("a", maxTilesBytes) + "{z}/{x}/{y}",
	} {
		kept := tiles(t, "https://kept.example/{z}/{x}/{y}")
		if err := kept.Set(wrong); err == nil || kept.Origin() != "https://kept.example" {
			t.Errorf("%.80s: got %v and %s", wrong, err, kept.Origin())
		}
	}
}

func TestPhotosComeFromOneFolderOfAServer(t *testing.T) {
	for base, origin := range map[string]string{
		"": "", "https://photos.example/": "https://photos.example", "http://127.0.0.1:8088/old/": "http://127.0.0.1:8088",
	} {
		var set Photos
		if err := set.Set(base); err != nil || set.String() != base || set.Origin() != origin {
			t.Errorf("%s became %s of %s: %v", base, set, set.Origin(), err)
		}
	}
	kept := Photos{"https://kept.example/", "https://kept.example"}
	for _, wrong := range []string{
		"photos.example/", "ftp://photos.example/", "/old/", "https://photos.example", "https://photos.example/old", "https://photos.example/?a=/",
		"https://photos.example/#/", "https://user:secret@photos.example/", "https://photos.example;script-src */", "https://[::1]/", "https://*/",
		"https://photos.example/" + strings.Repeat("a", maxTilesBytes) + "/",
	} {
		if err := kept.Set(wrong); err == nil || kept.Origin() != "https://kept.example" {
			t.Errorf("%.80s: got %v and %s", wrong, err, kept.Origin())
		}
	}
	h := newConsole(t, func(c *Config) { c.Photos = kept })
	if policy := get(h, "/").Header().Get("Content-Security-Policy"); !strings.Contains(policy, "img-src 'self' data: https://kept.example;") {
		t.Errorf("the policy is %s", policy)
	}
	if described := get(h, operationsPath).Body.String(); !strings.Contains(described, `"photos":"https://kept.example/"`) {
		t.Error("the page does not learn of the photos")
	}
}

var errAway = errors.New("the store can't be reached")

// deadlines is a recorder of a client whose connection has deadlines.
type deadlines struct {
	*httptest.ResponseRecorder
	isSet     bool
	unlimited int
}

func (d *deadlines) SetWriteDeadline(at time.Time) error {
	d.isSet = time.Now().Before(at)
	return nil
}

func (d *deadlines) Write(part []byte) (int, error) {
	if !d.isSet || len(part) > pieceBytes {
		d.unlimited++
	}
	d.isSet = false
	return d.ResponseRecorder.Write(part)
}

// A slow client may take as long as the file is long, and none may stop.
func TestEachPieceOfAFileHasADeadline(t *testing.T) {
	body := bytes.Repeat([]byte("0123456789"), pieceBytes)
	w := &deadlines{ResponseRecorder: httptest.NewRecorder()}
	newFile("x.js", immutable, body).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
	if w.unlimited > 0 || !bytes.Equal(w.Body.Bytes(), body) {
		t.Errorf("%d writes are unlimited, %d of %d bytes arrived", w.unlimited, w.Body.Len(), len(body))
	}
}
