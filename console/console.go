// Package console serves Waybook's page for people: the built files of the page in dist, a
// description of the interface, and a report of the program's health. The page sends its requests
// to /API.php, as any client does.
package console

import (
	"context"
	"embed"
	"fmt"
	"net/http"
	"strconv"
	"strings"
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
	healthPath     = "/console/health.json"
)

// Config has the dependencies and settings of the console. All but Tiles, Photos and Search are required.
type Config struct {
	// Edge is the edge that the page talks to.
	Edge *edge.Config
	// Tiles is the address of the map's raster tiles, and Photos that of the server of photos.
	Tiles  Tiles
	Photos Photos
	// Search is the address of a server that finds content by words.
	Search Search
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
	return &handler{
		files: files, prefix: config.Edge.PathPrefix, next: next, policy: []string{policy(config)}, referrer: []string{referrer(config.Tiles)},
		health: health{ready: config.Ready, metrics: config.Metrics, now: time.Now},
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
// requests, images of the origins of tiles and photos, and requests to the server that searches.
func policy(config Config) string {
	return strings.Join([]string{
		"default-src 'none'", "script-src 'self'", "style-src 'self'",
		strings.Join(strings.Fields("img-src 'self' data: "+config.Tiles.Origin()+" "+config.Photos.Origin()), " "),
		strings.TrimSpace("connect-src 'self' " + config.Search.Origin()), "font-src 'self'", "worker-src 'self'",
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
