// Package console serves Waybook's page for people: the built files of the page in dist, and
// what the page reads at its start. The page sends its requests to /API.php, as any client does.
package console

import (
	"embed"
	"fmt"
	"net/http"
	"strings"
)

// dist is what `npm run build` makes of the sources beside this file.
//
//go:embed all:dist
var dist embed.FS

// Config holds the settings of the console.
type Config struct {
	// Tiles is the address of the map's raster tiles; it may be zero.
	Tiles Tiles
}

// New returns a handler that serves the console, and passes every other request to next. Its
// paths are / and those below /console/. It is safe for concurrent use.
func New(config Config, next http.Handler) (http.Handler, error) {
	files, err := readFiles(dist)
	if err != nil {
		return nil, fmt.Errorf("console: %w", err)
	}
	policy := []string{policy(config.Tiles)}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		found := files[r.URL.Path]
		if found == nil || r.Method != http.MethodGet && r.Method != http.MethodHead {
			next.ServeHTTP(w, r)
			return
		}
		header := w.Header()
		header["Content-Security-Policy"] = policy
		setFixedHeaders(header)
		found.ServeHTTP(w, r)
	}), nil
}

// policy returns the Content-Security-Policy of the page. It allows the page's own files and
// requests, and images of the tiles' origin.
func policy(tiles Tiles) string {
	return strings.Join([]string{
		"default-src 'none'", "script-src 'self'", "style-src 'self'",
		strings.TrimSpace("img-src 'self' data: " + tiles.Origin()),
		"connect-src 'self'", "font-src 'self'", "worker-src 'self'",
		"base-uri 'none'", "form-action 'self'", "frame-ancestors 'none'",
	}, "; ")
}

// setFixedHeaders sets the headers that everything of the console has.
func setFixedHeaders(header http.Header) {
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("Cross-Origin-Opener-Policy", "same-origin")
	header.Set("Cross-Origin-Resource-Policy", "same-origin")
	header.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
}
