package cli

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestAComparisonEndsAsDiffDoes(t *testing.T) {
	var servers []string
	for _, title := range []string{"a\n", "b"} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = w.Write([]byte("<response><status>SUCCESS</status><albumTitle>" + strings.Repeat(title, len(r.URL.Query().Get("x"))) + "</albumTitle></response>"))
		}))
		t.Cleanup(server.Close)
		servers = append(servers, server.URL)
	}
	different := "func=getAlbum&x=1\n"
	for _, test := range []struct {
		new, file string
		status    int
		want      string
	}{
		{servers[1], "func=getAlbum\n# x\n", statusOK, "1 the same, 0 allowed, 0 different, 0 trouble\n"},
		{servers[1], different, statusDifferent, "line 1: func=getAlbum&x=1: albumTitle: old \"a\", new \"b\"\n0 the same, 0 allowed, 1 different, 0 trouble\n"},
		{servers[1], strings.Repeat(different, 12), statusDifferent, "\n2 more differences of getAlbum are not shown\n"},
		{servers[1], different + "func=updateAlbum\n", statusTrouble, "line 2: func=updateAlbum: func \"updateAlbum\" is no read of Waybook, and only reads are sent\n"},
		{servers[1], "# nothing\n", statusTrouble, "0 the same, 0 allowed, 0 different, 0 trouble\n"},
		{"http://127.0.0.1:1", different, statusTrouble, "line 1: func=getAlbum&x=1: new server: Get "},
	} {
		if ran := runWith(t.Context(), nil, test.file, "compare", servers[0], test.new, "-"); ran.status != test.status || !strings.Contains("\n"+ran.out, test.want) {
			t.Errorf("%q: %+v, want status %d, %q", test.file, ran, test.status, test.want)
		}
	}
	ran := runWith(t.Context(), nil, different, "compare", servers[0], servers[1], "-", "-o", "json")
	if want := `"different": 1,`; !strings.Contains(ran.out, want) || !strings.Contains(ran.out, `"request": "func=getAlbum&x=1"`) {
		t.Errorf("%s, want %s", ran.out, want)
	}
}
