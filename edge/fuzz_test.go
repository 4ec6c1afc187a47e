package edge

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/waybook/waybook/internal/platform/process"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
)

// For any request and any text of the services, the reply is a whole document of its format, and
// no failure is an INTERNAL ERROR.
func FuzzEveryReplyIsWellFormed(f *testing.F) {
	for _, form := range operationForms {
		f.Add(http.MethodPost, "", formType, form, demoCookie, "gzip", "晴 & <b>")
		f.Add(http.MethodGet, form+"&responseFormat=JSON", "", "", "", "", "\r\n\"\\")
		multi, multiType := multipartForm(f, form)
		f.Add(http.MethodPost, "", multiType, multi, demoCookie, "", "")
	}
	f.Add(http.MethodPost, "", "", loginForm, "", "", "")
	f.Add(http.MethodPost, "password=p", "", loginForm, "", "", "")
	f.Add(http.MethodPost, "", "", "func=logout", demoCookie, "", "")
	f.Add(http.MethodPost, "", big5Form, newAlbum+big5Title, demoCookie, "", "")
	f.Add(http.MethodPost, "", latin1Form, newAlbum+"albumTitle=%E9", demoCookie, "", "")
	f.Add(http.MethodGet, "func=getUserAlbumList&userID=7&limit=1&after=0", "", "", "", "", "x")
	f.Add(http.MethodHead, "func=getAlbum&albumID=1", "", "a=%", "id=1", "*;q=0", "]]>")
	f.Add(http.MethodPost, "", partsType, addTo+file("photo", "\xff\xd8")+endOfParts, demoCookie, "", "")
	f.Add(http.MethodPost, "func=addPhoto&POIID=1", partsType, file("photo", "x")+field("a", "b")+endOfParts, demoCookie, "", "")
	f.Add("BREW", "%", ";", ";", ";", ";", "\x00\uFFFE")

	// All inputs share one set of services; text is their current text.
	var text string
	services := &fakes{answer: func(_ context.Context, request proto.Message) (proto.Message, error) {
		return answerHolding(request, text), nil
	}}
	services.albums, services.pois = twoAlbums, noPois
	services.photos = newUploads()
	h := newEdge(f, services, withUploads(100))
	f.Fuzz(func(t *testing.T, method, query, contentType, body, cookie, accept, held string) {
		if !utf8.ValidString(held) {
			return // no service can send it
		}
		text = held
		r := httptest.NewRequest(http.MethodPost, Path, strings.NewReader(body))
		r.Method, r.URL.RawQuery = method, query
		r.Header.Set("Content-Type", contentType)
		r.Header.Set("Cookie", cookie)
		r.Header.Set("Accept-Encoding", accept)
		w := record(h, r)
		services.called()
		services.photos.taken()

		reason := w.Header().Get("X-Waybook-Reason")
		if w.Code >= 500 || reason == "INTERNAL_ERROR" {
			t.Fatalf("got %d %s: %s", w.Code, reason, w.Body)
		}
		if method == http.MethodHead {
			if w.Body.Len() > 0 {
				t.Fatalf("HEAD got %s", w.Body)
			}
			return
		}
		document := plainBody(t, w)
		format := "XML"
		if strings.HasPrefix(w.Header().Get("Content-Type"), "application/json") {
			format = "JSON"
		}
		checkDocument(t, format, document)
		if failed := strings.Contains(document, "FAILED"); !failed && reason != "" {
			t.Fatalf("%s, but %s", reason, document)
		}
	})
}

// plainBody returns the body of a reply, decompressed.
func plainBody(t *testing.T, w *httptest.ResponseRecorder) string {
	if w.Header().Get("Content-Encoding") != "gzip" {
		return w.Body.String()
	}
	reader, err := gzip.NewReader(w.Body)
	if err != nil {
		t.Fatal(err)
	}
	return readAll(t, reader)
}

func checkDocument(t *testing.T, format, document string) {
	t.Helper()
	if format == "JSON" {
		if !json.Valid([]byte(document)) {
			t.Fatalf("not JSON: %.500s", document)
		}
		return
	}
	if err := wellFormed(document); err != nil {
		t.Fatalf("%v: %.500s", err, document)
	}
}

// wellFormed returns the first syntax error of an XML document, or nil.
func wellFormed(document string) error {
	decoder := xml.NewDecoder(strings.NewReader(document))
	for {
		if _, err := decoder.Token(); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// answerHolding answers a request with the text in every text field.
func answerHolding(request proto.Message, text string) proto.Message {
	name := strings.TrimSuffix(string(request.ProtoReflect().Descriptor().FullName()), "Request") + "Response"
	kind, err := protoregistry.GlobalTypes.FindMessageByName(protoreflect.FullName(name))
	if err != nil {
		panic(err)
	}
	answer := kind.New()
	fill(answer, text)
	return answer.Interface()
}

// smuggled is a second request hidden in a first one. The edge must never run it. A proxy that
// saw one request would give its answer to the next client.
const smuggled = "GET /API.php?func=getAlbum&albumID=666 HTTP/1.1\r\nHost: x\r\n\r\n"

func TestARequestOfUnclearLengthGetsOneAnswerAndHidesNoSecondRequest(t *testing.T) {
	const (
		line  = "POST /API.php HTTP/1.1\r\n"
		start = line + "Host: x\r\nContent-Type: application/x-www-form-urlencoded\r\n"
		form  = "func=getAlbum&albumID=1"
	)
	for name, request := range map[string]string{
		"two lengths":                       start + "Content-Length: 23\r\nContent-Length: 0\r\n\r\n" + smuggled,
		"two lengths in a line":             start + "Content-Length: 23, 0\r\n\r\n" + smuggled,
		"a length with a sign":              start + "Content-Length: +0\r\n\r\n" + smuggled,
		"a negative length":                 start + "Content-Length: -1\r\n\r\n" + smuggled,
		"a length in hexadecimal":           start + "Content-Length: 0x0\r\n\r\n" + smuggled,
		"a length that is no number":        start + "Content-Length: zero\r\n\r\n" + smuggled,
		"a length beyond 64 bits":           start + "Content-Length: 18446744073709551616\r\n\r\n" + smuggled,
		"an unknown encoding":               start + "Transfer-Encoding: cow\r\n\r\n" + smuggled,
		"two encodings":                     start + "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n" + smuggled,
		"encodings in a line":               start + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n" + smuggled,
		"an encoding after a vertical tab":  start + "Transfer-Encoding:\vchunked\r\n\r\n0\r\n\r\n" + smuggled,
		"a chunk's size is no number":       start + "Transfer-Encoding: chunked\r\n\r\nzz\r\n" + smuggled,
		"a chunk's size is negative":        start + "Transfer-Encoding: chunked\r\n\r\n-1\r\n" + smuggled,
		"a chunk's size with 0x":            start + "Transfer-Encoding: chunked\r\n\r\n0x0\r\n\r\n" + smuggled,
		"a chunk's size beyond 64 bits":     start + "Transfer-Encoding: chunked\r\n\r\n10000000000000000\r\n" + smuggled,
		"a chunk longer than its size":      start + "Transfer-Encoding: chunked\r\n\r\n1\r\nxx\r\n0\r\n\r\n" + smuggled,
		"a chunk's size ends in a bare LF":  start + "Transfer-Encoding: chunked\r\n\r\n1;\nx\r\n0\r\n\r\n" + smuggled,
		"a chunk's extension without end":   start + "Transfer-Encoding: chunked\r\n\r\n0;" + strings.Repeat("x", 10_000) + "\r\n\r\n" + smuggled,
		"a blank before the colon":          start + "Content-Length : 0\r\n\r\n" + smuggled,
		"a tab before the colon":            start + "Content-Length\t: 0\r\n\r\n" + smuggled,
		"a blank before the name":           line + " Host: x\r\nContent-Length: 0\r\n\r\n" + smuggled,
		"a NUL in a value":                  start + "X-A: \x00\r\nContent-Length: 0\r\n\r\n" + smuggled,
		"a bare CR in a value":              start + "X-A: a\rContent-Length: 70\r\nContent-Length: 0\r\n\r\n" + smuggled,
		"a header without a colon":          start + "Content-Length\r\n\r\n" + smuggled,
		"two hosts":                         start + "Host: y\r\nContent-Length: 0\r\n\r\n" + smuggled,
		"no host":                           line + "Content-Length: 0\r\n\r\n" + smuggled,
		"a bare CR ends the request line":   "POST /API.php HTTP/1.1\rHost: x\r\n\r\n" + smuggled,
		"HTTP/0.9":                          "GET /API.php\r\n\r\n" + smuggled,
		"a version of the future":           "POST /API.php HTTP/9.1\r\nHost: x\r\n\r\n" + smuggled,
		"HTTP/2 without negotiation":        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + smuggled,
		"TLS on the plain port":             "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + smuggled,
		"an unknown expectation":            start + "Expect: 200-maybe\r\nContent-Length: 23\r\n\r\n" + form + smuggled,
		"more follows without being asked":  start + "Content-Length: 10000000\r\n\r\n" + smuggled,
		"the body is shorter than it says":  start + "Content-Length: 1000\r\n\r\n" + smuggled,
		"an upgrade of the connection":      start + "Connection: Upgrade\r\nUpgrade: h2c\r\nContent-Length: 1000\r\n\r\n" + smuggled,
		"a length and chunks, chunks ended": start + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + smuggled,
		"chunks and a length, chunks ended": start + "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n" + smuggled,
		"chunks in another letter case":     start + "Transfer-Encoding: CHUNKED\r\nContent-Length: 200\r\n\r\nzz\r\n" + smuggled,
		"chunks in HTTP/1.0":                "POST /API.php HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + smuggled,
		"a folded length":                   start + "Content-Length:\r\n 1000\r\n\r\n" + smuggled,
		"a folded value hides a length":     start + "X-A: a\r\n Content-Length: 0\r\nContent-Length: 1000\r\n\r\n" + smuggled,
		"bare LFs":                          "POST /API.php HTTP/1.1\nHost: x\nContent-Length: 1000\n\n" + smuggled,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := &fakes{answer: always(&albumv1.GetAlbumResponse{}, nil)}
			answers := exchangeRaw(t, f, request)
			for _, asked := range f.called() {
				if album, ok := asked.(*albumv1.GetAlbumRequest); ok && album.GetAlbumId() == 666 {
					t.Errorf("the edge ran the smuggled request: %q", answers)
				}
			}
			if len(answers) > 1 {
				t.Errorf("%d answers: %q", len(answers), answers)
			}
		})
	}
}

func TestAChunkedRequestIsTheLastOneOfItsConnection(t *testing.T) {
	const form = "func=getAlbum&albumID=1"
	const start = "POST /API.php HTTP/1.1\r\nHost: x\r\n"
	for request, want := range map[string]int{
		start + "Content-Length: 23\r\n\r\n" + form: 2,
		start + "Transfer-Encoding: chunked\r\n\r\nd;ext=\"a\"\r\nfunc=getAlbum\r\nA\r\n&albumID=1\r\n0\r\nTrailer: x\r\n\r\n": 1,
	} {
		answers := exchangeRaw(t, &fakes{answer: always(&albumv1.GetAlbumResponse{}, nil)}, request+smuggled)
		if len(answers) != want || !strings.Contains(answers[0], "SUCCESS") {
			t.Errorf("%q got %d answers: %q", request, len(answers), answers)
		}
	}
}

// exchangeRaw sends bytes over a connection and returns the bodies of all answers until the
// server closes it. Each answer must be well-formed. The server waits only briefly for more
// bytes, because real connections do not use the fake clock.
func exchangeRaw(t *testing.T, f *fakes, request string) (answers []string) {
	t.Helper()
	const short = 50 * time.Millisecond
	server := httptest.NewUnstartedServer(process.Bounded(newEdge(t, f, func(c *Config) { c.WriteTimeout = short }), short))
	server.Config.ReadHeaderTimeout, server.Config.IdleTimeout = short, short
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.Start()
	defer server.Close()
	connection, err := net.Dial("tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	connection.SetDeadline(time.Now().Add(time.Minute))
	_, _ = io.WriteString(connection, request) // the server may close before the end
	raw, err := io.ReadAll(connection)
	if err != nil && !errors.Is(err, io.EOF) && !strings.Contains(err.Error(), "reset") {
		t.Errorf("the connection stays open: %v", err)
	}
	reader := bufio.NewReader(bytes.NewReader(raw))
	for {
		if _, err := reader.Peek(1); err != nil {
			return answers
		}
		response, err := http.ReadResponse(reader, nil)
		if err != nil {
			t.Fatalf("no answer: %v in %q", err, raw)
		}
		body, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatalf("incomplete answer: %v in %q", err, raw)
		}
		if response.StatusCode >= 200 { // not 100 Continue
			answers = append(answers, string(body))
		}
		if strings.HasPrefix(response.Header.Get("Content-Type"), "text/xml") {
			checkDocument(t, "XML", string(body))
		}
		if response.StatusCode == http.StatusInternalServerError {
			t.Errorf("got %d %s", response.StatusCode, body)
		}
	}
}
