package edge

import (
	"net/http"
	"net/http/httptest"
	"testing"

	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
)

const trustedPage = "https://www.waybook.example"

// corsHeaders returns the headers of a reply that CORS is about.
func corsHeaders(w *httptest.ResponseRecorder) map[string]string {
	found := map[string]string{}
	for name := range w.Header() {
		if name == "Vary" || len(name) > 14 && name[:14] == "Access-Control" {
			found[name] = w.Header().Get(name)
		}
	}
	return found
}

// fromPage sends a request as a browser does for a page of an origin.
func fromPage(h http.Handler, method, target, origin string, header map[string]string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, target, nil)
	r.Header.Set("Origin", origin)
	for name, value := range header {
		r.Header.Set(name, value)
	}
	return record(h, r)
}

func TestATrustedOriginReadsRepliesAndNoOtherDoes(t *testing.T) {
	answered := &fakes{answer: always(&albumv1.GetAlbumResponse{}, nil)}
	plain := newEdge(t, answered)
	h := newEdge(t, answered, func(c *Config) { c.TrustedOrigins = TrustedOrigins{trustedPage, "null"} })
	ask := map[string]string{"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "content-type"}
	for _, c := range []struct {
		name, method, target string
		header               map[string]string
		status, refused      int
	}{
		{"a read", http.MethodGet, Path + "?func=getAlbum&albumID=1", nil, 200, 200},
		{"a failure", http.MethodGet, Path + "?func=getAlbum", nil, 200, 200},
		{"a method that there is not", http.MethodPut, Path, nil, 405, 405},
		{"another path", http.MethodGet, "/x", nil, 404, 404},
		{"a preflight", http.MethodOptions, Path, ask, 204, 405},
		{"a preflight of another path", http.MethodOptions, "/x", ask, 404, 404},
		{"OPTIONS that is no preflight", http.MethodOptions, Path, nil, 405, 405},
	} {
		want := map[string]string{
			"Vary": "Accept-Encoding, Origin", "Access-Control-Allow-Credentials": "true",
			"Access-Control-Expose-Headers": "X-Waybook-Reason, X-Request-Id, Retry-After",
		}
		if c.status == 204 {
			want["Access-Control-Allow-Methods"], want["Access-Control-Max-Age"] = "GET, HEAD, POST", "600"
			want["Access-Control-Allow-Headers"] = "Content-Type, X-Requested-With"
		}
		for _, origin := range []string{trustedPage, "null"} {
			want["Access-Control-Allow-Origin"] = origin
			w := fromPage(h, c.method, c.target, origin, c.header)
			if w.Code != c.status || !sameHeaders(corsHeaders(w), want) {
				t.Errorf("%s of %s: %d %v", c.name, origin, w.Code, corsHeaders(w))
			}
			if c.status == 204 && (w.Body.Len() > 0 || w.Header().Get("Content-Type") != "") {
				t.Errorf("%s: %v %s", c.name, w.Header(), w.Body)
			}
		}
		for _, origin := range []string{"https://evil.example", "http://www.waybook.example", trustedPage + ".evil.example", trustedPage + ":8443", ""} {
			w := fromPage(h, c.method, c.target, origin, c.header)
			if w.Code != c.refused || !sameHeaders(corsHeaders(w), map[string]string{"Vary": "Accept-Encoding, Origin"}) {
				t.Errorf("%s of %q: %d %v", c.name, origin, w.Code, corsHeaders(w))
			}
		}
		w := fromPage(plain, c.method, c.target, trustedPage, c.header)
		if w.Code != c.refused || !sameHeaders(corsHeaders(w), map[string]string{"Vary": "Accept-Encoding"}) {
			t.Errorf("%s without the setting: %d %v", c.name, w.Code, corsHeaders(w))
		}
	}
}

func sameHeaders(got, want map[string]string) bool {
	for name, value := range want {
		if got[name] != value {
			return false
		}
	}
	return len(got) == len(want)
}
