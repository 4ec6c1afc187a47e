package console

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/waybook/waybook/edge"
)

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
	if isKnown(r.Header.Values("If-None-Match"), f.etag) {
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

// sendTo sends a body in pieces. A client that does not read one within edge.DefaultWriteTimeout is
// gone.
func sendTo(w http.ResponseWriter, body []byte) {
	control := http.NewResponseController(w)
	for piece := range slices.Chunk(body, pieceBytes) {
		_ = control.SetWriteDeadline(time.Now().Add(edge.DefaultWriteTimeout)) // only tests have none
		if _, err := w.Write(piece); err != nil {
			return
		}
	}
}

// isKnown reports whether If-None-Match names the tag. Compression does not change the tag, so
// comparisons are weak ones.
func isKnown(lines []string, etag string) bool {
	for _, line := range lines {
		for each := range strings.SplitSeq(line, ",") {
			if each = strings.TrimSpace(each); each == "*" || strings.TrimPrefix(each, "W/") == etag {
				return true
			}
		}
	}
	return false
}
