package shadow

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

func TestOnlyKnownReadsReachAPrimaryThatIsReadOnly(t *testing.T) {
	const sentence = "we are moving & back at 3:30"
	_, front := newPrimary(t, func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		_, _ = io.WriteString(w, "old "+string(body))
	}, func(c *Config) { c.Flags.ReadOnly = sentence })
	for _, test := range []struct {
		method, path, body string
		passes             bool
	}{
		{"GET", "/API.php?func=getAlbum&albumID=1", "", true},
		{"HEAD", "/API.php?func=getAlbum&albumID=1", "", true},
		{"POST", "/API.php", "func=getAlbum&albumID=1", true},
		{"POST", "/API.php?func=getCategoryPOIList", "category=2", true},
		{"GET", "/upload/1.JPG?v=2", "", true},
		{"POST", "/API.php", "func=addAlbum&albumTitle=x", false},
		{"GET", "/API.php?func=updateAlbum&albumID=1&delete=true", "", false},
		{"POST", "/API.php?func=getAlbum", "func=updateAlbum&albumID=1&delete=true", false},
		{"POST", "/API.php", "func=login&email=a&password=b", false},
		{"POST", "/API.php", "func=getAlbum&albumID=1&x=" + strings.Repeat("x", maxBody), false},
		{"GET", "/API.php?func=doLogin", "", false},
		{"GET", "/API.php", "", false},
		{"GET", "/delete.php?id=1", "", false},
		{"GET", "/albums/delete/1", "", false},
		{"PUT", "/API.php?func=getAlbum&albumID=1", "", false},
		{"POST", "/upload/1.jpg", "x", false},
		{"DELETE", "/upload/1.jpg", "", false},
	} {
		request, err := http.NewRequest(test.method, front.URL+test.path, strings.NewReader(test.body))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		reply, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(reply.Body)
		if closeErr := reply.Body.Close(); err != nil || closeErr != nil {
			t.Fatal(err, closeErr)
		}
		if passes := reply.Header.Get("X-Waybook-Reason") == ""; passes != test.passes || reply.StatusCode != http.StatusOK {
			t.Errorf("%s %s %.50s: %s, %s", test.method, test.path, test.body, reply.Status, text)
		}
		if test.passes && test.method != "HEAD" && string(text) != "old "+test.body {
			t.Errorf("the old server got %q, want %q", text, test.body)
		}
		if want := "<response><status>FAILED</status><info>we are moving &amp; back at 3:30</info></response>"; !test.passes && !strings.HasSuffix(string(text), want) {
			t.Errorf("%s %s: %s", test.method, test.path, text)
		}
	}
}
