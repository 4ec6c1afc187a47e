package edge

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/waybook/waybook/internal/platform/admission"
	photov1 "github.com/waybook/waybook/proto/gen/waybook/photo/v1"
)

// photo is the content of a file, in several chunks.
var photo = strings.Repeat("0123456789", 60_000)

// withPhoto has one file, and an original that belongs to the demo user.
func withPhoto() *uploads {
	u := newUploads()
	u.download = func(r *photov1.DownloadRequest) (string, error) {
		switch {
		case r.GetPhotoId() != 34:
			return "", refusedFor(codes.NotFound, "PHOTO_NOT_FOUND")
		case r.GetSize() == photov1.PhotoSize_PHOTO_SIZE_ORIGINAL && r.GetAlbumId() != 12:
			return "", refusedFor(codes.PermissionDenied, "NOT_OWNER")
		}
		return photo, nil
	}
	return u
}

// getFile asks for a file with headers in the form "name: value".
func getFile(h http.Handler, method, path string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, nil)
	for _, each := range headers {
		name, value, _ := strings.Cut(each, ": ")
		r.Header.Set(name, value)
	}
	return record(h, r)
}

func TestTheFilesOfPhotosAreServed(t *testing.T) {
	f := &fakes{photos: withPhoto()}
	h := newEdge(t, f, func(c *Config) {
		if err := c.PathPrefix.Set("/waybook"); err != nil {
			t.Fatal(err)
		}
	})
	for _, c := range []struct {
		path, etag, want string
	}{
		{"/upload/album/12/34-thumb.jpg", `"34-thumb"`, "album_id:12 photo_id:34 size:PHOTO_SIZE_THUMBNAIL"},
		{"/upload/album/12/34-view.jpg", `"34-view"`, "album_id:12 photo_id:34 size:PHOTO_SIZE_VIEW"},
		{"/upload/poi/13/34-view.jpg", `"34-view"`, "poi_id:13 photo_id:34 size:PHOTO_SIZE_VIEW"},
		{"/waybook/upload/poi/13/34-thumb.jpg", `"34-thumb"`, "poi_id:13 photo_id:34 size:PHOTO_SIZE_THUMBNAIL"},
	} {
		for _, method := range []string{http.MethodGet, http.MethodHead} {
			w := getFile(h, method, c.path)
			header := w.Header()
			if w.Code != 200 || method == http.MethodGet && w.Body.String() != photo || method == http.MethodHead && w.Body.Len() > 0 {
				t.Errorf("%s: got %d and %d bytes", c.path, w.Code, w.Body.Len())
			}
			if asked := strings.Join(strings.Fields(fmt.Sprint(f.photos.asks()[0])), " "); asked != c.want {
				t.Errorf("%s: asked for %s", c.path, asked)
			}
			for name, want := range map[string]string{
				"Content-Type": "image/jpeg", "Content-Length": "600000", "Etag": c.etag, "Accept-Ranges": "bytes",
				"Cache-Control": "public, max-age=31536000, immutable", "X-Content-Type-Options": "nosniff",
				"Content-Security-Policy": "default-src 'none'; sandbox", "Content-Disposition": "",
			} {
				if header.Get(name) != want {
					t.Errorf("%s: %s is %q", c.path, name, header.Get(name))
				}
			}
		}
	}
}

func TestAnOriginalIsForItsOwner(t *testing.T) {
	f := &fakes{photos: withPhoto()}
	h := newEdge(t, f)
	const path = "/upload/album/12/34-original"
	for _, cookie := range []string{"", "id=7; idrand=" + strings.Repeat("0", 32)} {
		if w := getFile(h, http.MethodGet, path, "Cookie: "+cookie, `If-None-Match: "34-original"`); w.Code != 403 || w.Body.String() != failed("LOGIN REQUIRED") {
			t.Errorf("%q: got %d %s", cookie, w.Code, w.Body)
		}
	}
	if asked := f.photos.asks(); len(asked) > 0 {
		t.Errorf("without a session: asked for %v", asked)
	}
	w := getFile(h, http.MethodGet, path, "Cookie: "+demoCookie)
	header := w.Header()
	if w.Code != 200 || w.Body.String() != photo || f.photos.asks()[0].GetActorId() != demoUser {
		t.Errorf("got %d and %d bytes", w.Code, w.Body.Len())
	}
	if header.Get("Content-Type") != "image/png" || header.Get("Cache-Control") != "private" || header.Get("Content-Disposition") != "attachment" {
		t.Errorf("got %v", header)
	}
	if w := getFile(h, http.MethodGet, "/upload/poi/12/34-original", "Cookie: "+demoCookie); w.Code != 403 || w.Body.String() != failed("NOT OWNER") {
		t.Errorf("another's: got %d %s", w.Code, w.Body)
	}
}

func TestAKnownFileIsNotReadAgain(t *testing.T) {
	f := &fakes{photos: withPhoto()}
	h := newEdge(t, f)
	w := getFile(h, http.MethodGet, "/upload/album/12/34-view.jpg", `If-None-Match: "1", W/"34-view"`)
	if w.Code != 304 || w.Body.Len() > 0 || w.Header().Get("Etag") != `"34-view"` || len(f.photos.asks()) > 0 {
		t.Errorf("got %d %v", w.Code, w.Header())
	}
	w = getFile(h, http.MethodGet, "/upload/album/12/34-original", `If-None-Match: "34-original"`, "Cookie: "+demoCookie)
	if w.Code != 304 || len(f.photos.asks()) != 1 {
		t.Errorf("an original: got %d", w.Code)
	}
	w = getFile(h, http.MethodGet, "/upload/album/12/34-view.jpg", `If-None-Match: "34-thumb"`)
	if w.Code != 200 {
		t.Errorf("another tag: got %d", w.Code)
	}
}

func TestAPartOfAFile(t *testing.T) {
	f := &fakes{photos: withPhoto()}
	h := newEdge(t, f)
	for _, c := range []struct {
		headers []string
		status  int
		body    string
	}{
		{[]string{"Range: bytes=0-9"}, 206, photo[:10]},
		{[]string{"Range: bytes=300001-"}, 206, photo[300001:]},
		{[]string{"Range: bytes=-7"}, 206, photo[len(photo)-7:]},
		{[]string{"Range: bytes=599999-700000"}, 206, "9"},
		{[]string{"Range: bytes=1-2, 5-6"}, 200, photo},
		{[]string{"Range: bytes=1-2", `If-Range: "34-view"`}, 206, photo[1:3]},
		{[]string{"Range: bytes=1-2", `If-Range: "35-view"`}, 200, photo},
		{[]string{"Range: bytes=600000-"}, 416, ""},
	} {
		w := getFile(h, http.MethodGet, "/upload/album/12/34-view.jpg", c.headers...)
		if w.Code != c.status || w.Code != 416 && w.Body.String() != c.body {
			t.Errorf("%s: got %d and %d bytes", c.headers, w.Code, w.Body.Len())
		}
	}
}

func TestAddressesOfNoFileAreNotFound(t *testing.T) {
	f := &fakes{photos: withPhoto()}
	h := newEdge(t, f)
	for path, info := range map[string]string{
		"/upload/album/12/35-view.jpg":               "PHOTO NOT FOUND",
		"/upload/album/12/34-view.png":               "NOT FOUND",
		"/upload/album/12/34-original.jpg":           "NOT FOUND",
		"/upload/album/12/34":                        "NOT FOUND",
		"/upload/album/12/0-view.jpg":                "NOT FOUND",
		"/upload/album/0/34-view.jpg":                "NOT FOUND",
		"/upload/album/x/34-view.jpg":                "NOT FOUND",
		"/upload/album/12/9007199254740992-view.jpg": "NOT FOUND",
		"/upload/album/12/34-view.jpg/":              "NOT FOUND",
		"/upload/blog/12/34-view.jpg":                "NOT FOUND",
		"/upload/a.jpg":                              "NOT FOUND",
		"/uploads/album/12/34-view.jpg":              "NOT FOUND",
	} {
		if w := getFile(h, http.MethodGet, path); w.Code != 404 || w.Body.String() != failed(info) {
			t.Errorf("%s: got %d %s", path, w.Code, w.Body)
		}
	}
	w := getFile(h, http.MethodPost, "/upload/album/12/34-view.jpg")
	if w.Code != 405 || w.Header().Get("Allow") != "GET, HEAD" {
		t.Errorf("POST: got %d %s", w.Code, w.Header().Get("Allow"))
	}
}

func TestAFileThatEndsEarlyBreaksTheConnection(t *testing.T) {
	f := &fakes{photos: withPhoto()}
	f.photos.breaksAt = 500_000
	server := serve(t, f)
	response := fetch(t, http.MethodGet, server.URL+"/upload/album/12/34-view.jpg")
	if body, err := io.ReadAll(response.Body); err == nil {
		t.Errorf("got %d bytes", len(body))
	}
}

func TestGuessedFilesCountAsMisses(t *testing.T) {
	f := &fakes{photos: withPhoto()}
	h := newEdge(t, f, func(c *Config) { c.Load.Misses = admission.NewRate(1.0/60, time.Minute, time.Now) })
	for i, status := range []int{404, 429} {
		if w := getFile(h, http.MethodGet, "/upload/album/12/35-view.jpg"); w.Code != status {
			t.Errorf("request %d: got %d %s", i+1, w.Code, w.Body)
		}
	}
}

// Files that are sent hold the slots of long replies, not those of requests.
func TestAFileIsALongReply(t *testing.T) {
	f := &fakes{photos: withPhoto()}
	load := Load{Requests: admission.New(admission.Limits{Slots: 1}), ClientLongReplies: admission.NewPerKey(1)}
	server := serve(t, f, func(c *Config) { c.Load = load })
	for range 3 {
		response := fetch(t, http.MethodGet, server.URL+"/upload/album/12/34-view.jpg")
		if readAll(t, response.Body) != photo {
			t.Error("the file has not arrived")
		}
		waitFor(t, func() bool { return load.ClientLongReplies.Full("127.0.0.1") == "" })
	}
	if inside := load.Requests.Stats().Inside; inside != 0 {
		t.Errorf("%d slots are taken", inside)
	}
}
