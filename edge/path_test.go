package edge

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
)

func TestThePathOfTheInterfaceIsFound(t *testing.T) {
	for _, c := range []struct {
		prefix, target string
		status         int
		location       string
	}{
		{"", "/API.php", 200, ""},
		{"", "/API.php/", 200, ""},
		{"", "//API.php", 200, ""},
		{"", "///API.php//", 200, ""},
		{"", "/%41PI.php", 200, ""},
		{"/waybook", "/API.php", 200, ""},
		{"/waybook", "/waybook/API.php", 200, ""},
		{"/waybook", "//waybook//API.php/", 200, ""},
		{"/a/b", "/a/b/API.php", 200, ""},
		{"", "/api.php", 308, "API.php"},
		{"", "/Api.Php", 308, "API.php"},
		{"", "//API.PHP", 308, "API.php"},
		{"/waybook", "/waybook/api.php", 308, "API.php"},
		{"", "/api.php/", 404, ""},
		{"", "/waybook/API.php", 404, ""},
		{"/waybook", "/waybookAPI.php", 404, ""},
		{"/waybook", "/WAYBOOK/API.php", 404, ""},
		{"/waybook", "/waybook/waybook/API.php", 404, ""},
		{"", "/x/../API.php", 404, ""},
		{"", "/API.php/x", 404, ""},
		{"", "/API.phpx", 404, ""},
		{"", "/", 404, ""},
		{"", "//", 404, ""},
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
		location := c.location
		if location != "" {
			location += "?func=getAlbum&albumID=1"
		}
		if w.Code != c.status || w.Header().Get("Location") != location {
			t.Errorf("%s with the prefix %q: %d to %q", c.target, c.prefix, w.Code, w.Header().Get("Location"))
		}
		if want := failed("PERMANENT REDIRECT"); c.status == 308 && w.Body.String() != want {
			t.Errorf("%s: got %s", c.target, w.Body)
		}
	}
}

// A client that follows the redirect sends its form again, and the write is done once.
func TestAClientFollowsARedirectWithItsForm(t *testing.T) {
	f := &fakes{answer: always(&albumv1.CreateAlbumResponse{Album: &albumv1.Album{AlbumId: 12}}, nil)}
	server := httptest.NewServer(newEdge(t, f, func(c *Config) { c.PathPrefix = "/waybook" }))
	defer server.Close()
	request, err := http.NewRequest(http.MethodPost, server.URL+"/waybook/api.php?lat=1", strings.NewReader("func=addAlbum&albumTitle=a&category=1&lng=1"))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", formType)
	request.Header.Set("Cookie", demoCookie)
	response, err := server.Client().Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if body := readAll(t, response.Body); !strings.Contains(body, "<albumID>12</albumID>") || response.Request.URL.Path != "/waybook/API.php" {
		t.Errorf("%s got %s", response.Request.URL, body)
	}
	if called := f.called(); len(called) != 1 {
		t.Errorf("called %v", called)
	}
}

// Whatever the path, only the spellings of rule 1.29 are served, and no redirect leads elsewhere.
func FuzzOnlySpellingsOfThePathAreServed(f *testing.F) {
	f.Add("/waybook", "//waybook//API.php/")
	f.Add("", "//evil.example/api.php")
	f.Add("/a/b", "/a/b/aPI.php")
	spelling := regexp.MustCompile(`\A/+API\.php/*\z`)
	f.Fuzz(func(t *testing.T, value, path string) {
		var prefix PathPrefix
		if prefix.Set(value) != nil {
			return
		}
		location, err := prefix.find(path)
		if (err == nil) != spelling.MatchString(path) && prefix == "" {
			t.Errorf("%q: %v", path, err)
		}
		if _, again := prefix.find(string(prefix) + Path); again != nil {
			t.Errorf("the path behind %q: %v", prefix, again)
		}
		if location != "" && (err == nil || location != "API.php") {
			t.Errorf("%q leads to %q, %v", path, location, err)
		}
	})
}
