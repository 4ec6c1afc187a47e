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

func TestAContentTypeIsReadAsClientsWriteIt(t *testing.T) {
	f := &fakes{answer: always(&albumv1.CreateAlbumResponse{Album: &albumv1.Album{}}, nil)}
	h := newEdge(t, f)
	part := func(boundary, value string) string {
		body := ""
		for pair := range strings.SplitSeq(newAlbum+"albumTitle="+value, "&") {
			name, value, _ := strings.Cut(pair, "=")
			body += "--" + boundary + "\r\nContent-Disposition: form-data; name=\"" + name + "\"\r\n\r\n" + value + "\r\n"
		}
		return body + "--" + boundary + "--\r\n"
	}
	const plain, big5 = newAlbum + "albumTitle=%E5%8F%B0%E5%8C%97", newAlbum + big5Title
	for _, c := range []struct{ contentType, body string }{
		{formType + ";;; charset=UTF-8", plain},
		{formType + "; ; charset = utf-8 ;", plain},
		{formType + ", charset=UTF-8", plain},
		{formType + " charset=UTF-8", plain},
		{formType + "; UTF-8", plain},
		{formType + "; charset=utf-8; charset=UTF8", plain},
		{formType + "; charset=", plain},
		{formType + "; charset=\"\\utf-8\"", plain},
		{formType + "; version=1; version=2; x=\"a;b,c=\\\"\"", plain},
		{"Application/X-WWW-Form-URLEncoded , " + formType, plain},
		{formType + ";charset=MS950,CHARSET=big5", big5},
		{formType + "; big5", big5},
		{multipartType + ", boundary=x", part("x", "台北")},
		{multipartType + "; boundary=----=_Part/1:2?", part("----=_Part/1:2?", "台北")},
		{multipartType + ";; Boundary=\"a;b, c\"; boundary=\"a;b, c\"", part("a;b, c", "台北")},
		{multipartType + "; charset=big5; boundary=(a b)=", part("(a b)=", big5Bytes)},
	} {
		w := postAs(h, c.contentType, Path, c.body)
		called := f.called()
		if len(called) != 1 || called[0].(*albumv1.CreateAlbumRequest).GetTitle() != "台北" {
			t.Errorf("%s: got %s, called with %v", c.contentType, w.Body, called)
		}
	}
	for _, c := range []struct{ contentType, body, info string }{
		{formType + "; charset=utf-8; charset=big5", plain, "INVALID CONTENT TYPE"},
		{formType + "; charset=gbk", plain, "INVALID CONTENT TYPE"},
		{formType + "; gbk", plain, "INVALID CONTENT TYPE"},
		{formType + "; charset=\"utf-8", plain, "INVALID CONTENT TYPE"},
		{formType + "; charset=\"utf-8\"x", plain, "INVALID CONTENT TYPE"},
		{formType + ", text/plain", plain, "INVALID CONTENT TYPE"},
		{formType + "x", plain, "INVALID CONTENT TYPE"},
		{";" + formType, plain, "INVALID CONTENT TYPE"},
		{formType + ", " + multipartType + "; boundary=x", part("x", "台北"), "INVALID CONTENT TYPE"},
		{multipartType + "; boundary=x; boundary=y", part("x", "台北"), "INVALID CONTENT TYPE"},
		{multipartType + "; boundary=", part("", "台北"), "INVALID MULTIPART"},
	} {
		if w := postAs(h, c.contentType, Path, c.body); w.Body.String() != failed(c.info) || len(f.called()) > 0 {
			t.Errorf("%s: got %s", c.contentType, w.Body)
		}
	}
	r := httptest.NewRequest(http.MethodPost, Path, strings.NewReader(part("x", "台北")))
	r.Header["Content-Type"], r.Header["Cookie"] = []string{formType, multipartType + "; boundary=x"}, []string{demoCookie}
	if w := record(h, r); w.Body.String() != failed("INVALID CONTENT TYPE") {
		t.Errorf("two types: got %s", w.Body)
	}
}

// Parameters in an encoded body would be missed, and an update without them would succeed.
func TestAnEncodedBodyIsRefused(t *testing.T) {
	f := &fakes{answer: always(&albumv1.UpdateAlbumResponse{}, nil)}
	h := newEdge(t, f)
	for _, c := range []struct {
		encodings []string
		body      string
		status    int
	}{
		{[]string{"gzip"}, "x", 415},
		{[]string{"GZip"}, "x", 415},
		{[]string{"deflate"}, "x", 415},
		{[]string{"br, identity"}, "x", 415},
		{[]string{"identity", "zstd"}, "x", 415},
		{[]string{"aes128gcm"}, "x", 415},
		{[]string{"gzip;q=0"}, "x", 415},
		{[]string{"identity"}, "albumTitle=after", 200},
		{[]string{" Identity , identity", ""}, "albumTitle=after", 200},
		{[]string{"gzip"}, "", 200},
	} {
		for _, contentType := range []string{formType, ""} {
			r := httptest.NewRequest(http.MethodPost, Path+"?func=updateAlbum&albumID=12", strings.NewReader(c.body))
			r.Header["Content-Encoding"] = c.encodings
			r.Header.Set("Content-Type", contentType)
			r.Header.Set("Cookie", demoCookie)
			w := record(h, r)
			called := f.called()
			switch {
			case w.Code != c.status || (len(called) == 1) != (c.status == 200):
				t.Errorf("%q: got %d %s, called %v", c.encodings, w.Code, w.Body, called)
			case c.status == 415 && (w.Body.String() != failed("CONTENT ENCODING NOT ACCEPTED") || w.Header().Get("Accept-Encoding") != "identity"):
				t.Errorf("%q: got %s, %v", c.encodings, w.Body, w.Header())
			case c.status == 200 && (called[0].(*albumv1.UpdateAlbumRequest).GetTitle() == "after") != (c.body != ""):
				t.Errorf("%q: called %v", c.encodings, called)
			}
		}
	}
}

func TestAMultipartBodyHasTheLimitsOfAForm(t *testing.T) {
	h := newEdge(t, &fakes{}, func(c *Config) { c.MaxFormBytes = 10_000 })
	body, contentType := multipartForm(t, "func=getAlbum&note="+strings.Repeat("x", 10_000))
	if w := postAs(h, contentType, Path, body); w.Code != http.StatusRequestEntityTooLarge || w.Body.String() != failed("REQUEST TOO LARGE") {
		t.Errorf("too many bytes: %d %s", w.Code, w.Body)
	}
}
