// Package console serves Waybook's page for people: the built files of the page in dist, a
// description of the interface, and a report of the program's health. The page sends its requests
// to /API.php, as any client does.
package console

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/waybook/waybook/edge"
)

// dist is what `npm run build` makes of the sources beside this file.
//
//go:embed all:dist
var dist embed.FS

// The addresses of what the page reads.
const (
	operationsPath = "/console/operations.json"
	failuresPath   = "/console/failures.json"
	healthPath     = "/console/health.json"
)

// Config has the dependencies and settings of the console. All but Tiles and Photos are required.
type Config struct {
	// Edge is the edge that the page talks to.
	Edge *edge.Config
	// Tiles is the address of the map's raster tiles, and Photos that of the server of photos.
	Tiles  Tiles
	Photos Photos
	// Ready returns nil if the program can take requests.
	Ready func(context.Context) error
	// Metrics are the program's.
	Metrics prometheus.Gatherer
}

// handler serves the console. It is safe for concurrent use.
type handler struct {
	files  map[string]*file
	health health
	// policy is the Content-Security-Policy, and referrer the Referrer-Policy.
	policy, referrer []string
	// prefix may stand before each path.
	prefix edge.PathPrefix
	next   http.Handler
}

// New returns a handler that serves the console, and passes every other request to next, which is
// the handler of the edge.
func New(config Config, next http.Handler) (http.Handler, error) {
	files, err := readFiles(dist)
	if err != nil {
		return nil, fmt.Errorf("console: %w", err)
	}
	operations, err := describe(config)
	if err != nil {
		return nil, fmt.Errorf("console: %w", err)
	}
	files[operationsPath] = newFile(operationsPath, revalidated, operations)
	failures, err := json.Marshal(edge.Failures())
	if err != nil {
		return nil, fmt.Errorf("console: %w", err)
	}
	files[failuresPath] = newFile(failuresPath, revalidated, failures)
	return &handler{
		files: files, prefix: config.Edge.PathPrefix, next: next, policy: []string{policy(config)},
		referrer: []string{referrer(config.Tiles)},
		health:   health{ready: config.Ready, metrics: config.Metrics, now: time.Now},
	}, nil
}

// ServeHTTP answers one request.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path := h.prefix.Trim(r.URL.Path)
	found := h.files[path]
	isHealth := path == healthPath
	if found == nil && !isHealth || r.Method != http.MethodGet && r.Method != http.MethodHead {
		h.next.ServeHTTP(w, r)
		return
	}
	h.setHeaders(w.Header())
	if isHealth {
		h.serveHealth(w, r)
		return
	}
	found.ServeHTTP(w, r)
}

// setHeaders sets the headers that everything of the console has.
func (h *handler) setHeaders(header http.Header) {
	header["Content-Security-Policy"] = h.policy
	header.Set("X-Content-Type-Options", "nosniff")
	header["Referrer-Policy"] = h.referrer
	header.Set("Cross-Origin-Opener-Policy", "same-origin")
	header.Set("Cross-Origin-Resource-Policy", "same-origin")
	header.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
}

// policy returns the Content-Security-Policy of the page. It allows the page's own files and
// requests, and images of the origins of tiles and photos.
func policy(config Config) string {
	return strings.Join([]string{
		"default-src 'none'", "script-src 'self'", "style-src 'self'",
		strings.Join(strings.Fields("img-src 'self' data: "+config.Tiles.Origin()+" "+config.Photos.Origin()), " "),
		"connect-src 'self'", "font-src 'self'", "worker-src 'self'",
		"base-uri 'none'", "form-action 'self'", "frame-ancestors 'none'",
	}, "; ")
}

// referrer returns the Referrer-Policy of the page. Servers of tiles want to know which site shows
// them. They see its origin, never an address with what a user typed.
func referrer(tiles Tiles) string {
	if tiles.Origin() != "" {
		return "strict-origin"
	}
	return "no-referrer"
}

func (h *handler) serveHealth(w http.ResponseWriter, r *http.Request) {
	report, err := h.health.read(r.Context())
	if err != nil {
		http.Error(w, "there is no report", http.StatusInternalServerError)
		return
	}
	header := w.Header()
	header.Set("Cache-Control", "no-store")
	header.Set("Content-Type", contentType(healthPath))
	header.Set("Content-Length", strconv.Itoa(len(report)))
	if r.Method != http.MethodHead {
		w.Write(report) // it fails when the client is gone
	}
}

// The addresses of the files in dist: the page, and what it loads. Vite puts a hash of the
// content into the names of the latter, so they never change.
const (
	pagePath   = "/"
	assetsPath = "/console/assets/"
)

// pieceBytes is how many bytes of a file are sent at a time.
const pieceBytes = 64 << 10

// The values of Cache-Control: a browser asks whether a file has changed, or keeps it.
const (
	revalidated = "no-cache"
	immutable   = "public, max-age=31536000, immutable"
)

// file is a built file. It is safe for concurrent use.
type file struct {
	contentType  string
	cacheControl string
	etag         string
	body         []byte
	// zipped returns body compressed with gzip, or nil if that saves nothing. It compresses at
	// the first call.
	zipped func() []byte
}

// readFiles returns the files of a build by the path of their address.
func readFiles(built fs.FS) (map[string]*file, error) {
	page, err := fs.ReadFile(built, "dist/index.html")
	if err != nil {
		return nil, err
	}
	files := map[string]*file{pagePath: newFile("index.html", revalidated, page)}
	names, err := fs.Glob(built, "dist/assets/*")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		body, err := fs.ReadFile(built, name)
		if err != nil {
			return nil, err
		}
		files[assetsPath+path.Base(name)] = newFile(name, immutable, body)
	}
	return files, nil
}

func newFile(name, cacheControl string, body []byte) *file {
	sum := sha256.Sum256(body)
	return &file{
		contentType: contentType(name), cacheControl: cacheControl,
		etag: `"` + hex.EncodeToString(sum[:16]) + `"`, body: body,
		zipped: sync.OnceValue(func() []byte { return compress(body) }),
	}
}

// contentType returns the type of a file by its name. The package knows the types of what a
// build contains, because the tables of the systems differ.
func contentType(name string) string {
	switch path.Ext(name) {
	case ".html":
		return "text/html; charset=utf-8"
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".css":
		return "text/css; charset=utf-8"
	case ".json":
		return "application/json"
	case ".svg":
		return "image/svg+xml"
	case ".woff2":
		return "font/woff2"
	}
	if found := mime.TypeByExtension(path.Ext(name)); found != "" {
		return found
	}
	return "application/octet-stream"
}

func compress(body []byte) []byte {
	var zipped bytes.Buffer
	writer := gzip.NewWriter(&zipped)
	writer.Write(body) // a bytes.Buffer never fails
	writer.Close()
	if zipped.Len() >= len(body) {
		return nil
	}
	return zipped.Bytes()
}

// ServeHTTP answers a GET or HEAD request.
func (f *file) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("Cache-Control", f.cacheControl)
	header.Set("Vary", "Accept-Encoding")
	header.Set("ETag", f.etag)
	if edge.KnowsTag(r.Header.Values("If-None-Match"), f.etag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	header.Set("Content-Type", f.contentType)
	body := f.body
	if edge.AcceptsGzip(r.Header.Values("Accept-Encoding")) {
		if zipped := f.zipped(); zipped != nil {
			header.Set("Content-Encoding", "gzip")
			body = zipped
		}
	}
	header.Set("Content-Length", strconv.Itoa(len(body)))
	if r.Method != http.MethodHead {
		sendTo(w, body)
	}
}

// sendTo sends a body in pieces. A client that does not read one within edge.DefaultWriteTimeout
// is gone.
func sendTo(w http.ResponseWriter, body []byte) {
	control := http.NewResponseController(w)
	for piece := range slices.Chunk(body, pieceBytes) {
		_ = control.SetWriteDeadline(time.Now().Add(edge.DefaultWriteTimeout)) // only tests have none
		if _, err := w.Write(piece); err != nil {
			return
		}
	}
}
