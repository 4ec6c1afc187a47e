package edge

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"testing"

	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
)

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
