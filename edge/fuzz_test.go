package edge

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"encoding/xml"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
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
