package moving_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/waybook/waybook/e2e/oldserver"
)

// accessLog has reads, writes, attempts to smuggle a write, and what else a log has.
const accessLog = `192.0.2.1 - - [05/Mar/2008:09:07:31 +0800] "GET /API.php?func=getAlbum&albumID=%[1]d HTTP/1.1" 200 512
192.0.2.1 - ann [05/Mar/2008:09:07:32 +0800] "GET /API.php?func=getAlbum&albumID=%[1]d&x=\"a\x22 HTTP/1.0" 200 512 "http://old.example/" "Mozilla/4.0 (compatible; MSIE 6.0)"
192.0.2.1 - - [05/Mar/2008:09:07:33 +0800] "POST /API.php?func=updateAlbum&delete=true&albumID=%[1]d HTTP/1.1" 200 60
192.0.2.1 - - [05/Mar/2008:09:07:34 +0800] "GET /API.php?func=updateAlbum&func=getAlbum&albumID=%[1]d HTTP/1.1" 200 60
192.0.2.1 - - [05/Mar/2008:09:07:34 +0800] "GET /API.php?func=getAlbum&FUNC=updateAlbum&albumID=%[1]d HTTP/1.1" 200 60
192.0.2.1 - - [05/Mar/2008:09:07:34 +0800] "GET /API.php?func=getAlbum&albumID=%[1]d&x=1;func=updateAlbum HTTP/1.1" 200 60
192.0.2.1 - - [05/Mar/2008:09:07:35 +0800] "POST /API.php HTTP/1.1" 200 60
192.0.2.1 - - [05/Mar/2008:09:07:36 +0800] "GET /API.php?func=getPhotoAlbum HTTP/1.1" 200 60
192.0.2.1 - - [05/Mar/2008:09:07:37 +0800] "GET /upload/1.jpg HTTP/1.1" 200 99999
192.0.2.1 - - [05/Mar/2008:09:07:37 +0800] "-" 408 0
192.0.2.1 - - [05/Mar/2008:09:07:38 +0800] "GET /API.php?func=getAlbum&responseFormat=json&albumID=%[1]d HTTP/1.1" 200 512
`

func TestOnlyReadsOfALogAreSent(t *testing.T) {
	t.Parallel()
	p := startStandalone(t, "-demo=false")
	w := newWorld(t, p.GRPC, p.GRPC, p.GRPC, p.GRPC)
	server := oldserver.New(w.content)
	old := serve(t, server)
	found := compare(t, old, "http://"+p.HTTP, "access.log", fmt.Sprintf(accessLog, w.albums[0]))
	if requests, _, allowed := found.count(); found.status != 0 || requests != 3 || allowed != 3 {
		t.Errorf("status %d: %+v", found.status, found)
	}
	notSent := map[string]int{}
	for _, each := range found.NotSent {
		notSent[each.Reason] = each.Count
	}
	want := map[string]int{"write": 1, "ambiguous parameters": 2, "no operation": 2, "another path": 1, "unreadable": 1, "asks for JSON": 1}
	if fmt.Sprint(notSent) != fmt.Sprint(want) {
		t.Errorf("not sent: %v, want %v", notSent, want)
	}
	for _, each := range server.Seen() {
		if each.Func != "getAlbum" || each.Method != http.MethodGet {
			t.Errorf("the old server got %+v", each)
		}
	}
}

func TestALogMayHaveSeveralFormats(t *testing.T) {
	t.Parallel()
	p := startStandalone(t, "-demo=false")
	w := newWorld(t, p.GRPC, p.GRPC, p.GRPC, p.GRPC)
	body := fmt.Sprintf("func=getAlbum&albumID=%d", w.albums[0])
	var zipped bytes.Buffer
	zipper := gzip.NewWriter(&zipped)
	if _, err := fmt.Fprintf(zipper, "%d\n\n%d", w.albums[0], w.albums[1]); err != nil {
		t.Fatal(err)
	}
	if err := zipper.Close(); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		file, text string
		args       []string
		sent       int
	}{
		{"ids.txt.gz", zipped.String(), []string{"--parameter", "albumID"}, 2},
		{"log.ndjson", `{"url":"/API.php?` + body + `","cookie":"a=b; id=7; idrand=f; waybook_device=secret"}` + "\n" +
			`{"method":"POST","url":"http://old.example/API.php","body":"` + body + `"}` + "\n" + `{"request":"GET /API.php?` + body + ` HTTP/1.1"}` + "\n[]\n{}\n", nil, 3},
		{"log.har", `{"log":{"version":"1.2","creator":{"name":"x"},"entries":[
			{"startedDateTime":"x","request":{"method":"GET","url":"https://old.example/API.php?` + body + `","headers":[{"name":"cookie","value":"id=7"}]},"response":{"content":{"text":"x"}}},
			{"request":{"method":"POST","url":"/API.php","postData":{"mimeType":"application/x-www-form-urlencoded","text":"` + body + `"}}},
			{"request":{"method":"POST","url":"/API.php","postData":{"mimeType":"x","params":[{"name":"func","value":"getAlbum"},{"name":"albumID","value":"1"}]}}}],"pages":[]}}`, nil, 3},
	} {
		t.Run(test.file, func(t *testing.T) {
			server := oldserver.New(w.content)
			found := compare(t, serve(t, server), "http://"+p.HTTP, test.file, test.text, test.args...)
			if requests, _, _ := found.count(); found.status != 0 || requests != test.sent || len(server.Seen()) != test.sent {
				t.Errorf("status %d, the old server got %d requests: %+v", found.status, len(server.Seen()), found)
			}
			for _, each := range server.Seen() {
				if strings.Contains(each.Cookie, "a=b") || strings.Contains(each.Cookie, "secret") {
					t.Errorf("the cookie %q was sent", each.Cookie)
				}
			}
		})
	}
}

func TestWritesAreSentOnRequestInTheirOrder(t *testing.T) {
	t.Parallel()
	servers := [2]*oldserver.Server{oldserver.New(oldserver.Content{}), oldserver.New(oldserver.Content{})}
	var log strings.Builder
	for i := range 20 {
		fmt.Fprintf(&log, `{"method":"POST","url":"/API.php","body":"func=%s&n=%d","cookie":"id=7"}`+"\n", []string{"addAlbum", "updateAlbum"}[i%2], i)
	}
	found := compare(t, serve(t, servers[0]), serve(t, servers[1]), "writes.ndjson", log.String(), "--writes", "--concurrency", "8")
	if requests, same, _ := found.count(); found.status != 0 || requests != 20 || same != 20 {
		t.Errorf("status %d: %+v", found.status, found)
	}
	for _, server := range servers {
		seen := server.Seen()
		if !slices.EqualFunc(seen, make([]int, 20), func(oldserver.Seen, int) bool { return true }) {
			t.Fatalf("%d requests", len(seen))
		}
		for i, each := range seen {
			if want := []string{"addAlbum", "updateAlbum"}[i%2]; each.Func != want || each.Cookie != "id=7" {
				t.Errorf("request %d is %+v", i, each)
			}
		}
	}
}

func TestRequestsAtATimeAreLimited(t *testing.T) {
	t.Parallel()
	var inside, most atomic.Int64
	server := oldserver.New(oldserver.Content{})
	counting := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		now := inside.Add(1)
		defer inside.Add(-1)
		for {
			if before := most.Load(); now <= before || most.CompareAndSwap(before, now) {
				break
			}
		}
		server.ServeHTTP(w, r)
	})
	found := compare(t, serve(t, counting), serve(t, server), "a.ids", strings.Repeat("albumID 1\n", 500), "--concurrency", "3", "--limit", "400")
	if requests, same, _ := found.count(); found.status != 0 || requests != 400 || same != 400 || most.Load() > 3 {
		t.Errorf("status %d, at most %d at a time: %+v", found.status, most.Load(), found)
	}
}

func TestTroubleIsStatus2(t *testing.T) {
	t.Parallel()
	server := oldserver.New(oldserver.Content{})
	good := serve(t, server)
	elsewhere := oldserver.New(oldserver.Content{})
	answering := func(status int, header, value, body string) string {
		return serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set(header, value)
			w.WriteHeader(status)
			_, _ = fmt.Fprint(w, body)
		}))
	}
	silent := serve(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	for _, test := range []struct {
		name, old, text, want string
		args                  []string
	}{
		{"nobody", "http://127.0.0.1:1", strings.Repeat("albumID 1\n", 100), "has not answered 20 requests in a row", nil},
		{"status", answering(503, "Retry-After", "1", "<response/>"), "albumID 1", "HTTP 503", nil},
		{"html", answering(200, "X", "x", "<html><br></html>"), "albumID 1", "not one element named response", nil},
		{"redirect", answering(302, "Location", serve(t, elsewhere)+"/API.php", ""), "albumID 1", "HTTP 302", nil},
		{"long", answering(200, "X", "x", strings.Repeat("x", 2000)), "albumID 1", "too long", []string{"--max-reply", "1000"}},
		{"slow", silent, "albumID 1", "no reply within 200ms", []string{"--timeout", "200ms"}},
		{"empty", good, "# nothing\n", "no request", nil},
		{"address", "old.example", "albumID 1", "OLD: want the address", nil},
		{"secret", "http://ann:secret@old.example", "albumID 1", "OLD: the address must not have a name", nil},
		{"rule", good, "albumID 1", "there is no rule", []string{"--strict", "id"}},
		{"parameter", good, "1", "is not one of POIID, albumID, blogID, category, userID", []string{"--parameter", "id"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			found := compare(t, test.old, good, "a.ids", test.text, test.args...)
			said := found.notes
			for _, o := range found.Operations {
				for _, example := range o.Examples {
					said += example.Error + "\n"
				}
			}
			if found.status != 2 || !strings.Contains(said, test.want) || strings.Contains(said, "secret@") {
				t.Errorf("status %d: %s", found.status, said)
			}
		})
	}
	if seen := elsewhere.Seen(); len(seen) > 0 {
		t.Errorf("a redirect was followed: %+v", seen)
	}
}

func TestTheReportShowsExamplesSideBySide(t *testing.T) {
	t.Parallel()
	p := startStandalone(t, "-demo=false")
	w := newWorld(t, p.GRPC, p.GRPC, p.GRPC, p.GRPC)
	w.content.Albums[w.albums[0]].Title = "<script>alert(1)</script>"
	report := filepath.Join(t.TempDir(), "report.html")
	found := compare(t, serve(t, oldserver.New(w.content)), "http://"+p.HTTP, "a.ids", w.ids(), "--html", report, "--strict", "dates")
	if found.status != 1 {
		t.Fatalf("%+v", found)
	}
	written, err := os.ReadFile(report)
	if err != nil {
		t.Fatal(err)
	}
	page := string(written)
	for _, part := range []string{
		"<td>getUserAlbumList<td", "<code>response/albumTitle</code>", "<mark>  &lt;albumTitle&gt;&lt;script&gt;alert(1)&lt;/script&gt;&lt;/albumTitle&gt;</mark>",
		"<mark>  &lt;albumTitle&gt;東北角一日遊&lt;/albumTitle&gt;</mark>", "dates (strict)", "image-hosts",
	} {
		if !strings.Contains(page, part) {
			t.Errorf("the report does not contain %s", part)
		}
	}
	if strings.Contains(page, "<script>") {
		t.Error("the report has a script of a reply")
	}
	if info, err := os.Stat(report); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v: others can read the report", info.Mode(), err)
	}
}
