package edge

import (
	"bytes"
	"context"
	"fmt"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"google.golang.org/protobuf/proto"

	"github.com/waybook/waybook/edge/form"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
)

func TestEveryReplyCarriesTheSameHeaders(t *testing.T) {
	h := newEdge(t, &fakes{answer: always(&albumv1.GetAlbumResponse{}, nil)})
	// Only for XML does a browser add styles and images of its own.
	policies := map[string]string{
		"text/xml; charset=utf-8":         "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'",
		"application/json; charset=utf-8": "default-src 'none'; frame-ancestors 'none'",
	}
	for form, contentType := range map[string]string{
		"func=getAlbum&albumID=1":                     "text/xml; charset=utf-8",
		"func=getAlbum":                               "text/xml; charset=utf-8",
		"func=getAlbum&albumID=1&responseFormat=jSoN": "application/json; charset=utf-8",
		"func=nothing&responseFormat=JSON":            "application/json; charset=utf-8",
		"func=getAlbum&albumID=1&responseFormat=xml":  "text/xml; charset=utf-8",
	} {
		header := get(h, form).Header()
		for name, want := range map[string]string{
			"Content-Type": contentType, "Cache-Control": "no-store",
			"Vary": "Accept-Encoding", "X-Content-Type-Options": "nosniff",
			"Content-Security-Policy": policies[contentType],
		} {
			if got := header.Get(name); got != want {
				t.Errorf("%s: %s is %q, want %q", form, name, got, want)
			}
		}
	}
}

func TestMoreThanAHundredParametersAreRefused(t *testing.T) {
	h, many := newEdge(t, &fakes{}), strings.Repeat("a=1&", form.MaxParameters+1)
	for _, w := range []*httptest.ResponseRecorder{get(h, many), post(h, many)} {
		if w.Body.String() != failed("TOO MANY PARAMETERS") {
			t.Errorf("got %s", w.Body)
		}
	}
}

func TestAServiceWithoutAnAnswerIsATimeout(t *testing.T) {
	wait := func(ctx context.Context, _ proto.Message) (proto.Message, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	synctest.Test(t, func(t *testing.T) {
		h := newEdge(t, &fakes{answer: wait})
		// A session that cannot be verified in time is not closed.
		write := httptest.NewRequest(http.MethodPost, Path, strings.NewReader("func=updateAlbum&albumID=1&albumTitle=x"))
		write.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		write.Header.Set("Cookie", "id=7; idrand="+lateToken)
		for _, w := range []*httptest.ResponseRecorder{get(h, "func=getAlbum&albumID=1"), record(h, write)} {
			if w.Code != http.StatusServiceUnavailable || w.Body.String() != failed("SERVICE TIMEOUT") || w.Header().Get("Retry-After") == "" {
				t.Errorf("got %d %v %s", w.Code, w.Header(), w.Body)
			}
		}
	})
}

func TestObserveIsCalledOncePerRequest(t *testing.T) {
	var seen []string
	h := newEdge(t, &fakes{answer: always(&albumv1.GetAlbumResponse{}, nil)}, func(c *Config) {
		c.Observe = func(_ *http.Request, a Answer) {
			seen = append(seen, fmt.Sprintf("%s %s %d %d", a.Function, a.Reason, a.Status, a.Bytes))
		}
	})
	for _, query := range []string{"func=getAlbum&albumID=1", "func=getAlbum", "func=whatever%20it%20is"} {
		seen = nil
		w := get(h, query)
		reason := w.Header().Get("X-Waybook-Reason")
		function, _, _ := strings.Cut(strings.TrimPrefix(query, "func="), "&")
		if strings.HasPrefix(function, "what") {
			function = ""
		}
		if want := fmt.Sprintf("%s %s 200 %d", function, reason, w.Body.Len()); len(seen) != 1 || seen[0] != want {
			t.Errorf("got %q, want %q", seen, want)
		}
	}
}

// Exchanges are reused. Data of one request must never appear in the reply to another.
func TestConcurrentRequestsShareNoData(t *testing.T) {
	echo := func(_ context.Context, request proto.Message) (proto.Message, error) {
		id := request.(*albumv1.GetAlbumRequest).GetAlbumId()
		return &albumv1.GetAlbumResponse{Album: &albumv1.Album{Title: strings.Repeat("t", int(id))}}, nil
	}
	h := newEdge(t, &fakes{answer: echo})
	var group sync.WaitGroup
	for worker := range 4 {
		group.Go(func() {
			for i := 1; i <= 100; i++ {
				id := worker*100 + i
				w := get(h, "func=getAlbum&albumID="+strconv.Itoa(id))
				if !strings.Contains(w.Body.String(), "<albumTitle>"+strings.Repeat("t", id)+"</albumTitle>") {
					t.Errorf("%d got %s", id, w.Body)
				}
				if w = get(h, "func=getAlbum"); w.Body.String() != failed("MISSING PARAMETER: albumID") {
					t.Errorf("%d got %s", id, w.Body)
				}
			}
		})
	}
	group.Wait()
}

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

// Several lines of the header count as one list, and the last mention of gzip decides. Without
// gzip or * in the header, nothing is compressed.
func FuzzGzipIsForThoseWhoAskForIt(f *testing.F) {
	for _, line := range []string{"", "gzip", "*;q=0, x-gzip ; Q=0.001", "br;q=1.0, *", "gzip;q=0;q=1", ",;=,", "identity;q=1, *;q=0x1p-1"} {
		f.Add(line, "gzip;q=0")
	}
	f.Fuzz(func(t *testing.T, first, second string) {
		accepted := AcceptsGzip([]string{first, second})
		if joined := AcceptsGzip([]string{first + "," + second}); joined != accepted {
			t.Errorf("as two lines %v, as one %v", accepted, joined)
		}
		if asked := strings.ToLower(first + "," + second); accepted && !strings.Contains(asked, "gzip") && !strings.Contains(asked, "*") {
			t.Errorf("compressed without gzip or * in the header")
		}
		if !AcceptsGzip([]string{first, second, "gzip"}) || AcceptsGzip([]string{first, second, "gzip;q=0"}) {
			t.Error("the last mention of gzip did not decide")
		}
	})
}

// The golden cases have the spellings without a prefix.
func TestThePathOfTheInterfaceIsFound(t *testing.T) {
	for _, c := range []struct {
		prefix, target string
		status         int
	}{
		{"", "/%41PI.php", 200},
		{"/waybook", "/API.php", 200},
		{"/waybook", "/waybook/API.php", 200},
		{"/waybook", "//waybook//API.php/", 200},
		{"/a/b", "/a/b/API.php", 200},
		{"/waybook", "/waybook/api.php", 200},
		{"", "/waybook/API.php", 404},
		{"/waybook", "/waybookAPI.php", 404},
		{"/waybook", "/WAYBOOK/API.php", 404},
		{"/waybook", "/waybook/waybook/API.php", 404},
		{"", "/x/../API.php", 404},
	} {
		h := newEdge(t, &fakes{answer: always(&albumv1.GetAlbumResponse{}, nil)}, func(config *Config) {
			if err := config.PathPrefix.Set(c.prefix); err != nil {
				t.Fatal(err)
			}
		})
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		parsed, err := url.ParseRequestURI(c.target + "?func=getAlbum&albumID=1")
		if err != nil {
			t.Fatal(err)
		}
		r.URL = parsed
		w := record(h, r)
		if w.Code != c.status {
			t.Errorf("%s with the prefix %q: %d", c.target, c.prefix, w.Code)
		}
	}
}

// Whatever the path, only the spellings of rule 1.29 are served.
func FuzzOnlySpellingsOfThePathAreServed(f *testing.F) {
	f.Add("/waybook", "//waybook//API.php/")
	f.Add("", "//evil.example/api.php")
	f.Add("/a/b", "/a/b/aPI.php")
	spelling := regexp.MustCompile(`\A/+[Aa][Pp][Ii]\.[Pp][Hh][Pp]/*\z`)
	f.Fuzz(func(t *testing.T, value, path string) {
		var prefix PathPrefix
		if prefix.Set(value) != nil {
			return
		}
		if serves := prefix.Serves(path); serves != spelling.MatchString(path) && prefix == "" {
			t.Errorf("%q: %v", path, serves)
		}
		if !prefix.Serves(string(prefix) + Path) {
			t.Errorf("the path behind %q is not served", prefix)
		}
	})
}
