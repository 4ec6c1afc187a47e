package edge

import (
	"bytes"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/waybook/waybook/edge/form"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
)

const (
	latin1Form = formType + "; charset=ISO-8859-1"
	big5Form   = formType + "; charset=big5"
	// big5Title is 台北 in Big5, and big5Bytes its bytes.
	big5Title, big5Bytes = "albumTitle=%A5x%A5_", "\xa5x\xa5_"
	newAlbum             = "func=addAlbum&category=1&lat=1&lng=1&"
)

// multipartForm returns a multipart body with the parameters of a plain form, and its Content-Type.
func multipartForm(tb testing.TB, parameters string) (body, contentType string) {
	var out bytes.Buffer
	writer := multipart.NewWriter(&out)
	if err := writer.SetBoundary("----WaybookFormBoundary"); err != nil { // a fuzz test needs the same seeds each time
		tb.Fatal(err)
	}
	for pair := range strings.SplitSeq(parameters, "&") {
		name, value, _ := strings.Cut(pair, "=")
		if err := writer.WriteField(name, value); err != nil {
			tb.Fatal(err)
		}
	}
	if err := writer.Close(); err != nil {
		tb.Fatal(err)
	}
	return out.String(), writer.FormDataContentType()
}

// postAs sends a body of a Content-Type with the cookie of the open session.
func postAs(h http.Handler, contentType, target, body string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, target, strings.NewReader(body))
	r.Header.Set("Content-Type", contentType)
	r.Header.Set("Cookie", demoCookie)
	return record(h, r)
}

func TestTheLegacyCharsetIsThatOfFormsThatNameNone(t *testing.T) {
	f := &fakes{answer: always(&albumv1.CreateAlbumResponse{Album: &albumv1.Album{}}, nil)}
	h := newEdge(t, f, func(c *Config) { c.LegacyCharset = form.Big5 })
	multi, multiType := multipartForm(t, newAlbum+"albumTitle="+big5Bytes)
	for _, c := range []struct{ name, contentType, target, body, title string }{
		{"a body", formType, Path, newAlbum + big5Title, "台北"},
		{"a body without a type", "", Path, newAlbum + big5Title, "台北"},
		{"a query", formType, Path + "?" + newAlbum + big5Title, "", "台北"},
		{"a query beside a body that names one", formType + "; charset=utf-8", Path + "?" + big5Title, newAlbum, "台北"},
		{"a multipart body", multiType, Path, multi, "台北"},
		{"a body that names another", formType + "; charset=utf-8", Path, newAlbum + "albumTitle=%E6%99%B4", "晴"},
		{"ASCII", formType, Path, newAlbum + "albumTitle=Taipei", "Taipei"},
	} {
		w := postAs(h, c.contentType, c.target, c.body)
		called := f.called()
		if len(called) == 0 || called[len(called)-1].(*albumv1.CreateAlbumRequest).GetTitle() != c.title {
			t.Errorf("%s: got %s, called with %v", c.name, w.Body, called)
		}
	}
	if w := postAs(h, formType, Path, newAlbum+"albumTitle=%E6%99%B4"); w.Body.String() != failed("INVALID ENCODING: albumTitle") {
		t.Errorf("UTF-8 without its name: %s", w.Body)
	}
}

func TestAMultipartBodyHasTheLimitsOfAForm(t *testing.T) {
	h := newEdge(t, &fakes{}, func(c *Config) { c.MaxFormBytes = 10_000 })
	body, contentType := multipartForm(t, "func=getAlbum&note="+strings.Repeat("x", 10_000))
	if w := postAs(h, contentType, Path, body); w.Code != http.StatusRequestEntityTooLarge || w.Body.String() != failed("REQUEST TOO LARGE") {
		t.Errorf("too many bytes: %d %s", w.Code, w.Body)
	}
}
