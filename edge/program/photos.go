package program

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/waybook/waybook/edge"
	"github.com/waybook/waybook/internal/platform/process"
)

// photoTypes are the types of the files that are served, by the ends of their names. An SVG may hold programs.
var photoTypes = map[string]string{
	".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".png": "image/png", ".gif": "image/gif", ".webp": "image/webp", ".bmp": "image/bmp",
}

// maxPhotoBytes bounds a file that is served.
const maxPhotoBytes = 32 << 20

// photos serves the images in the folder of an old service under the addresses that they had there.
type photos struct {
	root   *os.Root
	prefix edge.PathPrefix
	next   http.Handler
}

// newPhotos returns a handler that passes on what is no image in the folder. Nothing outside of it is served, whatever
// links lead there. A part of env's stack closes the folder.
func newPhotos(env process.Env, folder string, prefix edge.PathPrefix, next http.Handler) (http.Handler, error) {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, fmt.Errorf("-photos: %w", err)
	}
	env.Stack.Push("photos", func(context.Context) error { return root.Close() })
	return &photos{root, prefix, next}, nil
}

// ServeHTTP answers a GET or HEAD request for an image.
func (p *photos) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(p.prefix.Trim(r.URL.Path), "/")
	contentType := photoTypes[strings.ToLower(path.Ext(name))]
	if contentType == "" || r.Method != http.MethodGet && r.Method != http.MethodHead || !filepath.IsLocal(name) {
		p.next.ServeHTTP(w, r)
		return
	}
	file, info, err := p.open(name)
	if err != nil {
		p.next.ServeHTTP(w, r)
		return
	}
	defer func() { _ = file.Close() }() // it was only read
	header := w.Header()
	header.Set("Content-Type", contentType)
	header.Set("Cache-Control", "public, max-age=86400")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	http.ServeContent(edge.NewPatientWriter(w), r, "", info.ModTime(), file)
}

// errNoPhoto reports what is no file, or too large.
var errNoPhoto = errors.New("no photo")

// open opens a file of the folder. A pipe would never open, so its kind is looked at first.
func (p *photos) open(name string) (*os.File, fs.FileInfo, error) {
	info, err := p.root.Stat(name)
	if err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxPhotoBytes {
		return nil, nil, errNoPhoto
	}
	file, err := p.root.Open(name)
	return file, info, err
}
