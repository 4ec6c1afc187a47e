package edge

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
)

func TestOnlyOwnPagesAndTrustedSitesMayWrite(t *testing.T) {
	h := newEdge(t, &fakes{answer: always(&albumv1.CreateAlbumResponse{Album: &albumv1.Album{}}, nil)}, func(c *Config) {
		c.TrustedOrigins = TrustedOrigins{"https://www.waybook.example"}
	})
	for _, c := range []struct {
		name   string
		header map[string]string
		isOurs bool
	}{
		{"a legacy client, which tells nothing", nil, true},
		{"our own page", map[string]string{"Sec-Fetch-Site": "same-origin"}, true},
		{"an address typed in", map[string]string{"Sec-Fetch-Site": "none"}, true},
		{"our own page in an old browser", map[string]string{"Origin": "http://example.com"}, true},
		{"a page of another site", map[string]string{"Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example"}, false},
		{"a page of a sister domain", map[string]string{"Sec-Fetch-Site": "same-site", "Origin": "https://blog.example.com"}, false},
		{"a page of another site in an old browser", map[string]string{"Origin": "https://evil.example"}, false},
		{"a page of no origin", map[string]string{"Origin": "null"}, false},
		{"a trusted site", map[string]string{"Sec-Fetch-Site": "cross-site", "Origin": "https://www.waybook.example"}, true},
		{"a trusted site without TLS", map[string]string{"Sec-Fetch-Site": "cross-site", "Origin": "http://www.waybook.example"}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			for form, isWrite := range map[string]bool{"func=addAlbum&albumTitle=a&category=1&lat=1&lng=1": true, "func=getAlbum": false} {
				r := cookieless(form)
				r.Header.Set("Cookie", demoCookie)
				for name, value := range maps.All(c.header) {
					r.Header.Set(name, value)
				}
				w := record(h, r)
				refused := w.Code == http.StatusForbidden && w.Body.String() == failed("CROSS SITE REQUEST")
				if refused != (isWrite && !c.isOurs) {
					t.Errorf("%s: %d %s", form, w.Code, w.Body)
				}
			}
		})
	}
}

// Browsers leave the default port out and write hosts in lower case. Proxies and people write them otherwise.
func TestAnOriginIsThatOfItsHostInAnySpelling(t *testing.T) {
	for _, c := range []struct {
		trusted, host, origin string
		isOurs                bool
	}{
		{host: "waybook.lan", origin: "http://waybook.lan", isOurs: true},
		{host: "waybook.lan:80", origin: "http://waybook.lan", isOurs: true},
		{host: "waybook.lan:443", origin: "https://waybook.lan", isOurs: true},
		{host: "waybook.lan:80", origin: "https://waybook.lan", isOurs: true}, // a proxy without TLS behind one with it
		{host: "Waybook.LAN", origin: "http://waybook.lan", isOurs: true},
		{host: "waybook.lan", origin: "HTTP://Waybook.LAN", isOurs: true},
		{host: "WAYBOOK.lan:80", origin: "http://waybook.lan:80", isOurs: true},
		{host: "waybook.lan", origin: "https://waybook.lan:443", isOurs: true},
		{host: "waybook.lan:8080", origin: "http://Waybook.lan:8080", isOurs: true},
		{host: "[::1]:80", origin: "http://[::1]", isOurs: true},
		{host: "waybook.lan:8080", origin: "http://waybook.lan"},
		{host: "waybook.lan", origin: "http://waybook.lan:8080"},
		{host: "waybook.lan", origin: "http://waybook.lan:443"},
		{host: "waybook.lan:80", origin: "http://evil.example"},
		{host: "waybook.lan:80", origin: "http://waybook.lan:80@evil.example"},
		{host: "waybook.lan:80", origin: "http://evil.example/waybook.lan"},
		{host: "waybook.lan:80", origin: "null"},
		{host: "waybook.lan:80", origin: "://waybook.lan"},
		{host: ":80", origin: "http://"},
		{trusted: "https://WWW.Waybook.example:443", host: "waybook.lan", origin: "https://www.waybook.example", isOurs: true},
		{trusted: "http://www.waybook.example:80", host: "waybook.lan", origin: "http://www.waybook.example", isOurs: true},
		{trusted: "http://www.waybook.example:443", host: "waybook.lan", origin: "http://www.waybook.example"},
		{trusted: "https://www.waybook.example:80", host: "waybook.lan", origin: "https://www.waybook.example"},
	} {
		var origins TrustedOrigins
		if err := origins.Set(c.trusted); err != nil {
			t.Fatal(err)
		}
		r := cookieless(loginForm)
		r.Host = c.host
		r.Header.Set("Origin", c.origin)
		header := http.Header{}
		origins.sites().share(header, r)
		if err := origins.sites().refuseOthers(r); (err == nil) != c.isOurs {
			t.Errorf("%q at %q with %q trusted: %v", c.origin, c.host, c.trusted, err)
		}
		if isShared := header.Get("Access-Control-Allow-Origin") == c.origin; isShared != (c.isOurs && c.trusted != "") {
			t.Errorf("%q with %q trusted: shared %v", c.origin, c.trusted, isShared)
		}
		r.Header.Set("Sec-Fetch-Site", "cross-site")
		if err := origins.sites().refuseOthers(r); (err == nil) != (c.isOurs && c.trusted != "") {
			t.Errorf("a page of another site, %q at %q with %q trusted: %v", c.origin, c.host, c.trusted, err)
		}
	}
}

func TestPagesWithoutAnOriginWriteOnlyIfNullIsTrusted(t *testing.T) {
	for trusted, want := range map[string]int{"": 403, "https://www.waybook.example": 403, "null": 200, "https://www.waybook.example, null": 200} {
		var origins TrustedOrigins
		if err := origins.Set(trusted); err != nil {
			t.Fatal(err)
		}
		h := newEdge(t, &fakes{answer: letIn}, func(c *Config) { c.TrustedOrigins = origins })
		for _, site := range []string{"", "cross-site"} { // without a value: an old WebView
			r := cookieless(loginForm)
			r.Header.Set("Origin", "null")
			r.Header.Set("Sec-Fetch-Site", site)
			if w := record(h, r); w.Code != want {
				t.Errorf("%q trusted, site %q: %d %s", trusted, site, w.Code, w.Body)
			}
			r = cookieless(loginForm)
			r.Header.Set("Origin", "https://evil.example")
			r.Header.Set("Sec-Fetch-Site", site)
			if w := record(h, r); w.Code != 403 {
				t.Errorf("%q trusted: a page of another site wrote: %d %s", trusted, w.Code, w.Body)
			}
		}
	}
}

// For any headers, the edge accepts a write only as a form, and only from a page of its own or
// of a trusted site.
func FuzzNoPageOfAnotherSiteWrites(f *testing.F) {
	const form, trusted = "application/x-www-form-urlencoded", "https://www.waybook.example"
	f.Add("cross-site", "https://evil.example", form)
	f.Add("", "http://Example.com:80", form+"; charset=UTF-8")
	f.Add("same-origin", "null", "text/plain")
	f.Add("Same-Origin", trusted, form+"; charset=big5")
	f.Add("", "http://example.com@evil.example", "multipart/form-data; boundary=x")
	f.Add("none", "://", form+";;charset=\"utf8\"")
	services := &fakes{answer: always(&albumv1.CreateAlbumResponse{Album: &albumv1.Album{}}, nil)}
	h := newEdge(f, services, func(c *Config) { c.TrustedOrigins = TrustedOrigins{trusted} })
	f.Fuzz(func(t *testing.T, fetchSite, origin, contentType string) {
		r := cookieless("func=addAlbum&albumTitle=a&category=1&lat=1&lng=1")
		r.Header.Set("Cookie", demoCookie)
		for name, value := range map[string]string{"Sec-Fetch-Site": fetchSite, "Origin": origin, "Content-Type": contentType} {
			if r.Header.Del(name); value != "" {
				r.Header.Set(name, value)
			}
		}
		w := record(h, r)
		checkDocument(t, "XML", w.Body.String())
		if w.Code >= 500 {
			t.Errorf("got %d %s", w.Code, w.Body)
		}
		if len(services.called()) == 0 {
			return
		}
		_, host, _ := strings.Cut(strings.ToLower(origin), "://")
		sameHost := host == "example.com" || host == "example.com:80" || host == "example.com:443" // the host of httptest
		isOurs := fetchSite == "same-origin" || fetchSite == "none" || fetchSite == "" && (origin == "" || sameHost) || origin == trusted
		if !isOurs {
			t.Errorf("Sec-Fetch-Site %q, Origin %q: the write was accepted", fetchSite, origin)
		}
		mediaType := strings.ToLower(strings.TrimLeft(contentType, " \t\r\n\v\f\u0085\u00a0"))
		if mediaType != "" && !strings.HasPrefix(mediaType, form) && !strings.HasPrefix(mediaType, multipartType) {
			t.Errorf("Content-Type %q: the write was accepted", contentType)
		}
	})
}

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
