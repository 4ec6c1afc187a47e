package moving_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/waybook/waybook/e2e/launch"
	"github.com/waybook/waybook/e2e/oldserver"
	"github.com/waybook/waybook/internal/waybooktest"
)

func TestThePrimaryAnswersEveryRequestAndReadsAreCompared(t *testing.T) {
	t.Parallel()
	for name, start := range deployments {
		t.Run(name, func(t *testing.T) {
			primary := &late{}
			address := serve(t, primary)
			p, w := start(t, "-primary", address, "-shadow-rate", "0", "-access-log", "-trusted-proxies", "1", "-path-prefix", "/waybook")
			w.content.Albums[w.albums[1]].Title = "planted"
			old := oldserver.New(w.content)
			primary.set(old)

			album := api("func=getAlbum&albumID=%d", w.albums[3])
			got, direct := send(t, p, album, ""), launch.Get(t, address+album)
			if got.Body != direct || got.Header.Get("Content-Type") != "text/xml" || got.Header.Get("X-Request-Id") == "" {
				t.Errorf("got %+v, want %s", got, direct)
			}
			send(t, p, "/waybook"+api("func=getAlbum&albumID=%d", w.albums[1]), "")
			// Writes, other paths and what only the old server knows pass it, too.
			deleted := send(t, p, "/API.php", fmt.Sprintf("func=updateAlbum&delete=true&albumID=%d", w.albums[0]),
				"Cookie", "PHPSESSID=x; id=7", "X-Forwarded-For", "203.0.113.9, 192.0.2.7", "X-Forwarded-Host", "evil.example", "Forwarded", "for=evil")
			if !strings.Contains(deleted.Body, "SUCCESS") {
				t.Errorf("%+v", deleted)
			}
			for _, path := range []string{"/", "/upload/1%2F2.png?x=1", "/console/operations.json", api("func=uploadPhoto"), api("func=updateAlbum&func=getAlbum")} {
				if got := send(t, p, path, ""); got.Code != 200 || got.Body != launch.Get(t, address+path) {
					t.Errorf("%s: %+v", path, got)
				}
			}
			await(t, p, `waybook_shadow_comparisons_total{func="getAlbum",outcome="allowed"} 1`)
			await(t, p, `waybook_shadow_comparisons_total{func="getAlbum",outcome="different"} 1`)
			await(t, p, `waybook_shadow_skipped_total{reason="ambiguous"} 1`)
			p.AwaitLog("replies differ")
			// Only the clients' requests are observed, not those that are compared.
			await(t, p, `waybook_edge_request_duration_seconds_count{func="getAlbum",reason=""} 2`)
			for limit := time.Now().Add(patience); strings.Count(p.Logged(), "msg=request ") != 5; {
				if time.Now().After(limit) {
					t.Fatalf("the access log does not have 5 lines:\n%s", p.Logged())
				}
			}
			// The album is still here: no write came to Waybook.
			if found := compare(t, address, address, "a.ids", "albumID 1"); found.status != 0 {
				t.Errorf("%+v", found)
			}
			var write oldserver.Seen
			for _, each := range old.Seen() {
				if each.Func == "updateAlbum" && each.Method == http.MethodPost {
					write = each
				}
			}
			if write.Cookie != "PHPSESSID=x; id=7" || write.Header.Get("X-Forwarded-For") != "192.0.2.7" || write.Header.Get("Forwarded") != "" ||
				write.Header.Get("X-Forwarded-Host") != p.HTTP || write.Header.Get("X-Forwarded-Proto") != "http" {
				t.Errorf("the old server got %+v", write)
			}
			if exists := w.exists(w.albums[0]); !exists {
				t.Error("the write came to Waybook")
			}
		})
	}
}

func TestAPrimaryThatIsAwayIsAServiceThatIsUnavailable(t *testing.T) {
	t.Parallel()
	p := startStandalone(t, "-primary", "http://127.0.0.1:1")
	got := send(t, p, api("func=getAlbum&albumID=1"), "")
	if got.Code != 503 || got.Header.Get("Retry-After") != "1" || got.Header.Get("X-Waybook-Reason") != "SERVICE_UNAVAILABLE" ||
		!strings.HasSuffix(got.Body, "<response><status>FAILED</status><info>SERVICE UNAVAILABLE</info></response>") {
		t.Errorf("got %+v", got)
	}
	await(t, p, `waybook_edge_request_duration_seconds_count{func="getAlbum",reason="SERVICE_UNAVAILABLE"} 1`)
	await(t, p, `waybook_shadow_skipped_total{reason="refused"} 1`)
}

// A reply that breaks off must break off for the client, too.
func TestAReplyOfThePrimaryThatBreaksOffIsNoWholeReply(t *testing.T) {
	t.Parallel()
	primary := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "1000")
		_, _ = io.WriteString(w, "<response><status>SUCCESS</status>")
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}))
	p := startStandalone(t, "-primary", primary)
	client := waybooktest.OnceAt(t, p.HTTP)
	if reply, err := client.Try(client.Form(http.MethodGet, "func=getAlbum&albumID=1")); err == nil {
		t.Errorf("the client takes %q for a whole reply", reply.Body)
	}
}
