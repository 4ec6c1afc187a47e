package edge

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/waybook/waybook/edge/operation"
	"github.com/waybook/waybook/internal/platform/admission"
	photov1 "github.com/waybook/waybook/proto/gen/waybook/photo/v1"
)

// withUploads lets the edge take files of up to a number of bytes.
func withUploads(most int64) func(*Config) {
	return func(c *Config) { c.MaxPhotoBytes = most }
}

// field and file are parts of a multipart body.
func field(name, value string) string {
	return "--b\r\nContent-Disposition: form-data; name=\"" + name + "\"\r\n\r\n" + value + "\r\n"
}

func file(name, content string) string {
	return "--b\r\nContent-Disposition: form-data; name=\"" + name + "\"; filename=\"相片.jpg\"\r\nContent-Type: image/jpeg\r\n\r\n" + content + "\r\n"
}

const (
	endOfParts = "--b--\r\n"
	partsType  = multipartType + "; boundary=b"
)

// addTo are the fields of a photo of album 12.
var addTo = field("func", "addPhoto") + field("albumID", "12")

func TestAFileIsAPhotoOfAnAlbumOrALandmark(t *testing.T) {
	photo := string(bytes.Repeat([]byte("\x00\xff\r\n--b"), 40_000)) + "." // several chunks, and almost a boundary
	for _, c := range []struct{ name, target, body, want string }{
		{"an album", Path, addTo + field("description", "晴") + file("photo", photo), `album_id:12 description:"晴"`},
		{"a landmark", Path, field("func", "addPhoto") + field("POIID", "13") + file("photo", photo), `poi_id:13`},
		{"the function in the query", Path + "?func=addPhoto&albumID=12", file("photo", photo), `album_id:12`},
		{"an address besides", Path, addTo + field("thumbnail", "x.jpg") + field("photo", "y.jpg") + file("photo", photo), `album_id:12`},
		{"a file without a byte", Path, addTo + file("photo", ""), `album_id:12`},
	} {
		f := &fakes{photos: newUploads()}
		w := postAs(newEdge(t, f, withUploads(1<<20)), partsType, c.target, c.body+endOfParts)
		if w.Body.String() != xmlBody("<status>SUCCESS</status><photoID>1</photoID>") {
			t.Errorf("%s: got %s", c.name, w.Body)
			continue
		}
		kept := f.photos.taken()[0]
		content := photo
		if !strings.Contains(c.body, photo) {
			content = ""
		}
		if kept.size != len(content) || kept.sum != sha256.Sum256([]byte(content)) {
			t.Errorf("%s: %d bytes arrived", c.name, kept.size)
		}
		if kept.start.GetActorId() != demoUser || len(kept.start.GetRequestId()) != 36 {
			t.Errorf("%s: got %v", c.name, kept.start)
		}
		kept.start.ActorId, kept.start.RequestId = 0, ""
		if got := strings.Join(strings.Fields(kept.start.String()), " "); got != c.want {
			t.Errorf("%s: got %s", c.name, got)
		}
	}
}

func TestARequestMayHaveAnIdentifier(t *testing.T) {
	const id = "6f1c7d5e-0d0f-4c39-9f0f-2b9e0a6f3c11"
	f := &fakes{photos: newUploads()}
	h := newEdge(t, f, withUploads(100))
	if w := postAs(h, partsType, Path, addTo+field("requestID", id)+file("photo", "x")+endOfParts); f.photos.taken()[0].start.GetRequestId() != id {
		t.Errorf("got %s", w.Body)
	}
	w := postAs(h, partsType, Path, addTo+field("requestID", "7")+file("photo", "x")+endOfParts)
	if w.Body.String() != failed("INVALID PARAMETER: requestID (a UUID)") {
		t.Errorf("got %s", w.Body)
	}
	f.photos.refuse = func(*photov1.UploadStart) error { return refusedFor(codes.AlreadyExists, "REQUEST_ID_REUSED") }
	w = postAs(h, partsType, Path, addTo+field("requestID", id)+file("photo", "y")+endOfParts)
	if w.Body.String() != failed("REQUEST ID REUSED") {
		t.Errorf("got %s", w.Body)
	}
}

// A request that is refused adds nothing: the service sees that its call is cancelled, or sees no call.
func TestARefusedFileAddsNothing(t *testing.T) {
	long := strings.Repeat("x", 100_001)
	post := func(change func(r *http.Request)) func(h http.Handler, body string) *httptest.ResponseRecorder {
		return func(h http.Handler, body string) *httptest.ResponseRecorder {
			r := httptest.NewRequest(http.MethodPost, Path, strings.NewReader(body))
			r.Header.Set("Content-Type", partsType)
			r.Header.Set("Cookie", demoCookie)
			change(r)
			return record(h, r)
		}
	}
	usual := post(func(*http.Request) {})
	for _, c := range []struct {
		name, body string
		send       func(h http.Handler, body string) *httptest.ResponseRecorder
		status     int
		info       string
	}{
		{"a field after it", addTo + file("photo", "x") + field("description", "d") + endOfParts, usual, 200, "INVALID MULTIPART: send the fields before the file"},
		{"the function after it", file("photo", "x") + addTo + endOfParts, usual, 200, "INVALID MULTIPART: send the fields before the file"},
		{"a second file", addTo + file("photo", "x") + file("photo", "y") + endOfParts, usual, 200, "FILE NOT ACCEPTED: photo"},
		{"another name", addTo + file("thumbnail", "x") + endOfParts, usual, 200, "FILE NOT ACCEPTED: thumbnail"},
		{"another function", field("func", "addAlbum") + file("photo", "x") + endOfParts, usual, 200, "FILE NOT ACCEPTED: photo"},
		{"an unknown function", field("func", "addPhotos") + file("photo", "x") + endOfParts, usual, 200, "FILE NOT ACCEPTED: photo"},
		{"an encoding", addTo + strings.Replace(file("photo", "x"), "Content-Type", "Content-Transfer-Encoding: base64\r\nX", 1) + endOfParts, usual, 200, "INVALID MULTIPART"},
		{"no end", addTo + file("photo", long[1:]), usual, 200, "INVALID MULTIPART"},
		{"no end of the file", addTo + strings.TrimSuffix(file("photo", "x"), "\r\n"), usual, 200, "INVALID MULTIPART"},
		{"too long", addTo + file("photo", long) + endOfParts, usual, 200, "PHOTO TOO LARGE"},
		{"far too long", addTo + file("photo", strings.Repeat("x", 3<<20)) + endOfParts, usual, 200, "PHOTO TOO LARGE"},
		{"no album", field("func", "addPhoto") + file("photo", "x") + endOfParts, usual, 200, "MISSING PARAMETER: albumID or POIID"},
		{"an album that can't be", field("func", "addPhoto") + field("albumID", "0") + file("photo", "x") + endOfParts, usual, 200, "INVALID PARAMETER: albumID (1 to 9007199254740991)"},
		{"a long description", addTo + field("description", long[:2001]) + file("photo", "x") + endOfParts, usual, 200, "INVALID PARAMETER: description (at most 2000 characters)"},
		{"no session", addTo + file("photo", "x") + endOfParts, post(func(r *http.Request) { r.Header.Del("Cookie") }), 200, "LOGIN REQUIRED"},
		{"a page of another site", addTo + file("photo", "x") + endOfParts, post(func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") }), 403, "CROSS SITE REQUEST"},
		{"GET", addTo + file("photo", "x") + endOfParts, post(func(r *http.Request) { r.Method = http.MethodGet }), 200, "POST REQUIRED"},
		{"a long field", field("x", strings.Repeat("x", 2<<20)) + addTo + file("photo", "x") + endOfParts, usual, 413, "REQUEST TOO LARGE"},
		{"a long end", addTo + file("photo", "x") + endOfParts + strings.Repeat("x", 2<<20), usual, 413, "REQUEST TOO LARGE"},
		{"a cut body", addTo + file("photo", long[2:]) + endOfParts, post(func(r *http.Request) {
			r.Body = io.NopCloser(io.MultiReader(io.LimitReader(r.Body, 90_000), cut{}))
		}), 400, "UNREADABLE REQUEST"},
	} {
		f := &fakes{photos: newUploads()}
		h := newEdge(t, f, withUploads(100_000))
		w := c.send(h, c.body)
		if w.Code != c.status || w.Body.String() != failed(c.info) {
			t.Errorf("%s: got %d %s", c.name, w.Code, w.Body)
		}
		select {
		case err := <-f.photos.ended:
			if err == nil {
				t.Errorf("%s: the call succeeded", c.name)
			}
		case <-time.After(time.Second / 5):
			if len(f.photos.starts) > 0 {
				t.Errorf("%s: the call goes on", c.name)
			}
		}
		if kept := f.photos.taken(); len(kept) > 0 {
			t.Errorf("%s: kept %v", c.name, kept)
		}
	}
}

// cut is the rest of a body whose client is gone.
type cut struct{}

func (cut) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

func TestUploadsMayBeOff(t *testing.T) {
	body := addTo + file("photo", strings.Repeat("x", 3<<20)) + endOfParts
	f := &fakes{photos: newUploads()}
	if w := postAs(newEdge(t, f), partsType, Path, body); w.Body.String() != failed("UPLOADS OFF") {
		t.Errorf("got %s", w.Body)
	}
	withheld := newEdge(t, f, withUploads(4<<20), func(c *Config) { c.Additions = operation.AdditionsWithheld })
	if w := postAs(withheld, partsType, Path, body); w.Body.String() != failed("REQUEST TOO LARGE") {
		t.Errorf("without additions: got %s", w.Body)
	}
	if w := postAs(withheld, partsType, Path, addTo+file("photo", "x")+endOfParts); w.Body.String() != failed("FILE NOT ACCEPTED: photo") {
		t.Errorf("without additions: got %s", w.Body)
	}
}

// The service may end the call before the file has arrived.
func TestTheFailuresOfTheServiceAreThoseOfTheUpload(t *testing.T) {
	for reason, c := range map[string]struct {
		code   codes.Code
		status int
	}{
		"NOT_OWNER":           {codes.PermissionDenied, 200},
		"ALBUM_NOT_FOUND":     {codes.NotFound, 200},
		"PHOTO_NOT_SUPPORTED": {codes.InvalidArgument, 200},
		"PHOTO_TOO_LARGE":     {codes.InvalidArgument, 200},
		"PHOTO_DAMAGED":       {codes.InvalidArgument, 200},
		"UPLOADS_OFF":         {codes.FailedPrecondition, 200},
		"SERVICE_BUSY":        {codes.ResourceExhausted, 503},
	} {
		for _, size := range []int{1, 1 << 20} {
			f := &fakes{photos: newUploads()}
			f.photos.refuse = func(*photov1.UploadStart) error { return refusedFor(c.code, reason) }
			w := postAs(newEdge(t, f, withUploads(2<<20)), partsType, Path, addTo+file("photo", strings.Repeat("x", size))+endOfParts)
			if w.Code != c.status || w.Body.String() != failed(strings.ReplaceAll(reason, "_", " ")) {
				t.Errorf("%s of %d bytes: got %d %s", reason, size, w.Code, w.Body)
			}
		}
	}
}

// A client that sends slower than the time for a form can upload, as long as it sends.
func TestASlowFileArrivesAndOneThatStopsDoesNot(t *testing.T) {
	const timeout = 300 * time.Millisecond
	f := &fakes{photos: newUploads()}
	server := serve(t, f, withUploads(1<<20), func(c *Config) { c.WriteTimeout = timeout })
	for _, pieces := range []int{8, 1} {
		connection, err := net.Dial("tcp", server.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer connection.Close()
		const size = 8
		fmt.Fprintf(connection, "POST %s HTTP/1.1\r\nHost: x\r\nContent-Type: %s\r\nCookie: %s\r\nContent-Length: %d\r\n\r\n%s",
			Path, partsType, demoCookie, len(addTo)+len(file("photo", ""))+size+len(endOfParts), addTo+strings.TrimSuffix(file("photo", ""), "\r\n"))
		for range pieces {
			time.Sleep(timeout / 3)
			_, _ = io.WriteString(connection, "x")
		}
		if pieces == size {
			_, _ = io.WriteString(connection, "\r\n"+endOfParts+"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
		}
		reply := readAll(t, connection)
		kept := f.photos.taken()
		if pieces == size && (len(kept) != 1 || !strings.Contains(reply, "SUCCESS") || !strings.Contains(reply, "404")) {
			t.Errorf("a slow file: got %s", reply)
		}
		if pieces < size && (len(kept) != 0 || !strings.HasPrefix(reply, "HTTP/1.1 408 ") || !strings.HasSuffix(reply, failed("REQUEST TIMEOUT"))) {
			t.Errorf("a file that stops: got %s", reply)
		}
	}
}

// Old clients read the reply when they have sent everything.
func TestAClientThatSendsEverythingFirstGetsItsFailure(t *testing.T) {
	f := &fakes{photos: newUploads()}
	server := serve(t, f, withUploads(20<<20))
	body := addTo + file("photo", strings.Repeat("x", 15<<20)) + endOfParts
	for range 3 {
		connection, err := net.Dial("tcp", server.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer connection.Close()
		if _, err := fmt.Fprintf(connection, "POST %s HTTP/1.1\r\nHost: x\r\nContent-Type: %s\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s",
			Path, partsType, len(body), body); err != nil {
			t.Fatal(err)
		}
		if reply := readAll(t, connection); !strings.HasSuffix(reply, failed("LOGIN REQUIRED")) {
			t.Errorf("got %s", reply)
		}
	}
}

func TestUploadsHaveLimitsOfTheirOwn(t *testing.T) {
	f := &fakes{photos: newUploads()}
	release := make(chan struct{})
	f.photos.refuse = func(*photov1.UploadStart) error { <-release; return nil }
	begin := func(h http.Handler, address string) <-chan *httptest.ResponseRecorder {
		done := make(chan *httptest.ResponseRecorder, 1)
		r := httptest.NewRequest(http.MethodPost, Path, strings.NewReader(addTo+file("photo", "x")+endOfParts))
		r.Header.Set("Content-Type", partsType)
		r.Header.Set("Cookie", demoCookie)
		r.RemoteAddr = address + ":1"
		go func() { done <- record(h, r) }()
		return done
	}
	load := Load{
		Requests: admission.New(admission.Limits{Slots: 1}),
		Uploads:  admission.New(admission.Limits{Slots: 2}), ClientUploads: admission.NewPerKey(1),
	}
	h := newEdge(t, f, withUploads(100), func(c *Config) { c.Load = load })
	first := begin(h, "192.0.2.1")
	waitFor(t, func() bool { return load.Uploads.Stats().Inside == 1 })
	if w := <-begin(h, "192.0.2.1"); w.Code != 429 || w.Body.String() != failed("TOO MANY UPLOADS") || w.Header().Get("Retry-After") != "1" {
		t.Errorf("a second upload of an address: got %d %s", w.Code, w.Body)
	}
	second := begin(h, "192.0.2.2")
	waitFor(t, func() bool { return load.Uploads.Stats().Inside == 2 })
	if w := <-begin(h, "192.0.2.3"); w.Code != 503 || w.Body.String() != failed("SERVICE BUSY") {
		t.Errorf("a third upload: got %d %s", w.Code, w.Body)
	}
	if inside := load.Requests.Stats().Inside; inside != 0 {
		t.Errorf("uploads hold %d slots of requests", inside)
	}
	close(release)
	for _, done := range []<-chan *httptest.ResponseRecorder{first, second} {
		if w := <-done; w.Code != 200 {
			t.Errorf("got %d %s", w.Code, w.Body)
		}
	}
	if inside := load.Uploads.Stats().Inside; inside != 0 || !load.ClientUploads.TryEnter("192.0.2.1") {
		t.Errorf("%d slots are taken after the last upload", inside)
	}
}

func waitFor(t *testing.T, isSo func() bool) {
	t.Helper()
	for range 500 {
		if isSo() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("it takes too long")
}
