package program

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waybook/waybook/internal/platform/process"
)

func TestOnlyImagesOfTheFolderAreServed(t *testing.T) {
	outside, folder := t.TempDir(), t.TempDir()
	jpeg := bytes.Repeat([]byte("\xff\xd8\xff"), 40_000)
	for path, text := range map[string][]byte{
		filepath.Join(folder, "upload/photo/1.jpg"): jpeg, filepath.Join(folder, "upload/2.GIF"): []byte("GIF89a"), filepath.Join(folder, "upload/遊 記.png"): []byte("png"),
		filepath.Join(folder, "\xb9C\xb0O.png"): []byte("png"),
		filepath.Join(folder, "config.php"):     []byte("secret"), filepath.Join(folder, "a.svg"): []byte("<svg/>"), filepath.Join(folder, "none"): nil,
		filepath.Join(outside, "secret.jpg"): []byte("secret"), filepath.Join(folder, "folder.jpg/x"): nil,
	} {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, target := range map[string]string{"absolute.jpg": filepath.Join(outside, "secret.jpg"), "relative.jpg": "../" + filepath.Base(outside) + "/secret.jpg", "inside.jpg": "upload/photo/1.jpg"} {
		if err := os.Symlink(target, filepath.Join(folder, name)); err != nil {
			t.Fatal(err)
		}
	}
	large, err := os.Create(filepath.Join(folder, "large.jpg"))
	if err != nil {
		t.Fatal(err)
	}
	if err := large.Truncate(maxPhotoBytes + 1); err != nil {
		t.Fatal(err)
	}
	if err := large.Close(); err != nil {
		t.Fatal(err)
	}
	stack := &process.Stack{}
	handler, err := newPhotos(process.Env{Stack: stack}, folder, "/waybook", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) }))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := stack.Stop(t.Context()); err != nil {
			t.Error(err)
		}
	}()
	server := httptest.NewServer(handler)
	defer server.Close()
	for _, test := range []struct{ method, path, contentType string }{
		{"GET", "/upload/photo/1.jpg", "image/jpeg"},
		{"HEAD", "/upload/photo/1.jpg", "image/jpeg"},
		{"GET", "/waybook/upload/photo/1.jpg?v=2", "image/jpeg"},
		{"GET", "/upload/2.GIF", "image/gif"},
		{"GET", "/upload/%E9%81%8A%20%E8%A8%98.png", "image/png"},
		{"GET", "/%B9%43%B0%4F.png", "image/png"}, // in Big5
		{"GET", "/inside.jpg", "image/jpeg"},
		{"POST", "/upload/photo/1.jpg", ""},
		{"GET", "/", ""},
		{"GET", "/upload/", ""},
		{"GET", "/upload/photo/", ""},
		{"GET", "/folder.jpg", ""},
		{"GET", "/folder.jpg/", ""},
		{"GET", "/large.jpg", ""},
		{"GET", "/config.php", ""},
		{"GET", "/config.php/x.jpg", ""},
		{"GET", "/a.svg", ""},
		{"GET", "/none", ""},
		{"GET", "/absolute.jpg", ""},
		{"GET", "/relative.jpg", ""},
		{"GET", "/upload/../../" + filepath.Base(outside) + "/secret.jpg", ""},
		{"GET", "/%2e%2e/" + filepath.Base(outside) + "/secret.jpg", ""},
		{"GET", "/..%2f" + filepath.Base(outside) + "%2fsecret.jpg", ""},
		{"GET", "//upload//photo/1.jpg", ""},
		{"GET", "/upload/photo/1.jpg%00.jpg", ""},
		{"GET", "/" + strings.Repeat("x", 5000) + ".jpg", ""},
	} {
		request, err := http.NewRequest(test.method, server.URL+test.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		reply, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(reply.Body)
		if closeErr := reply.Body.Close(); err != nil || closeErr != nil {
			t.Fatal(err, closeErr)
		}
		if test.contentType == "" {
			if reply.StatusCode != http.StatusTeapot || len(body) > 0 {
				t.Errorf("%s %.80s: %s, %q", test.method, test.path, reply.Status, body)
			}
			continue
		}
		header := reply.Header
		if reply.StatusCode != http.StatusOK || header.Get("Content-Type") != test.contentType || header.Get("X-Content-Type-Options") != "nosniff" ||
			header.Get("Cache-Control") == "" || header.Get("Last-Modified") == "" || test.method == "HEAD" != (len(body) == 0) ||
			test.contentType == "image/jpeg" && len(body) > 0 && !bytes.Equal(body, jpeg) {
			t.Errorf("%s %s: %s, %v, %d bytes", test.method, test.path, reply.Status, header, len(body))
		}
	}
}
