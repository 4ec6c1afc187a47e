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
	}{
		{"", "/API.php", 200},
		{"", "/API.php/", 200},
		{"", "//API.php", 200},
		{"", "///API.php//", 200},
		{"", "/%41PI.php", 200},
		{"/waybook", "/API.php", 200},
		{"/waybook", "/waybook/API.php", 200},
		{"/waybook", "//waybook//API.php/", 200},
		{"/a/b", "/a/b/API.php", 200},
		{"", "/api.php", 200},
		{"", "/Api.Php", 200},
		{"", "//API.PHP", 200},
		{"/waybook", "/waybook/api.php", 200},
		{"", "/api.php/", 200},
		{"", "//APi.pHp//", 200},
		{"", "/waybook/API.php", 404},
		{"/waybook", "/waybookAPI.php", 404},
		{"/waybook", "/WAYBOOK/API.php", 404},
		{"/waybook", "/waybook/waybook/API.php", 404},
		{"", "/x/../API.php", 404},
		{"", "/API.php/x", 404},
		{"", "/API.phpx", 404},
		{"", "/", 404},
		{"", "//", 404},
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

// An old client does not follow a redirect with its form.
func TestAWriteToThePathInOtherLettersIsDone(t *testing.T) {
	f := &fakes{answer: always(&albumv1.CreateAlbumResponse{Album: &albumv1.Album{AlbumId: 12}}, nil)}
	w := postAs(newEdge(t, f), formType, "/api.php?lat=1", "func=addAlbum&albumTitle=a&category=1&lng=1")
	if called := f.called(); len(called) != 1 || !strings.Contains(w.Body.String(), "<albumID>12</albumID>") {
		t.Errorf("got %d %s, called %v", w.Code, w.Body, called)
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
