package moving_test

import (
	"context"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/waybook/waybook/e2e/launch"
	"github.com/waybook/waybook/e2e/oldserver"
	"github.com/waybook/waybook/internal/waybooktest"
)

// late is a server whose handler is set after it has started, because its content comes from a
// Waybook that needs its address.
type late struct {
	mu      sync.Mutex
	handler http.Handler
}

func (l *late) set(handler http.Handler) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.handler = handler
}

func (l *late) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	l.mu.Lock()
	handler := l.handler
	l.mu.Unlock()
	handler.ServeHTTP(w, r)
}

// send sends a request to the edge of a program. A body makes it a POST.
func send(t *testing.T, p *launch.Process, path, body string, header ...string) waybooktest.Reply {
	t.Helper()
	client := waybooktest.OnceAt(t, p.HTTP)
	client.URL = "http://" + p.HTTP + path
	for i := 0; i < len(header); i += 2 {
		client.Header.Set(header[i], header[i+1])
	}
	if body != "" {
		return client.Post(body)
	}
	return client.Get("")
}

func api(format string, args ...any) string { return "/API.php?" + fmt.Sprintf(format, args...) }

// deployments start Waybook in each of its forms. They return the edge, and the gRPC ports of its
// services.
var deployments = map[string]func(t *testing.T, args ...string) (edge *launch.Process, world *world){
	"standalone": func(t *testing.T, args ...string) (*launch.Process, *world) {
		p := startStandalone(t, append([]string{"-demo=false"}, args...)...)
		return p, newWorld(t, p.GRPC, p.GRPC, p.GRPC, p.GRPC)
	},
	"edge": func(t *testing.T, args ...string) (*launch.Process, *world) {
		services := launch.StartServices(t, binaries, t.TempDir())
		p := launch.StartEdge(t, binaries, services, nil, args...)
		return p, newWorld(t, services["account"].GRPC, services["album"].GRPC, services["blog"].GRPC, services["poi"].GRPC)
	},
}

func TestEachReadIsAlsoAskedOfTheShadow(t *testing.T) {
	t.Parallel()
	for name, start := range deployments {
		t.Run(name, func(t *testing.T) {
			shadow := &late{}
			p, w := start(t, "-shadow", serve(t, shadow), "-shadow-rate", "0")
			w.content.Albums[w.albums[1]].Title = "planted"
			old := oldserver.New(w.content)
			shadow.set(old)

			cookie := []string{"Cookie", `tracking=1; id=7; waybook_device=secret; idrand="3141592653589"`}
			plain := send(t, p, api("func=getAlbum&albumID=%d", w.albums[3]), "", cookie...)
			zipped := send(t, p, api("func=getAlbum&albumID=%d", w.albums[3]), "", append(cookie, "Accept-Encoding", "gzip")...)
			send(t, p, "/API.php", fmt.Sprintf("func=getPOI&POIID=%d", w.landmarks[0]), cookie...)
			send(t, p, api("func=getAlbum&albumID=%d", w.albums[1]), "", cookie...)
			if plain.Code != 200 || zipped.Header.Get("Content-Encoding") != "gzip" {
				t.Errorf("%+v and %+v", plain, zipped)
			}
			// None of these is a read that both servers have, or may be sent.
			for _, path := range []string{
				api("func=getUserBlogList&userID=%d", w.user), api("func=getAlbum&withIDs=true&albumID=%d", w.albums[0]), api("func=nothing"),
				api("func=getAlbum&responseFormat=JSON&albumID=%d", w.albums[0]), api("func=updateAlbum&func=getAlbum&albumID=%d", w.albums[0]),
				api("func=getAlbum&albumID=%d&FUNC=updateAlbum", w.albums[0]), "/favicon.ico",
			} {
				send(t, p, path, "", cookie...)
			}
			send(t, p, "/API.php", fmt.Sprintf("func=updateAlbum&delete=true&albumID=%d", w.albums[0]), cookie...)
			send(t, p, "/API.php", "func=login&email=a@b.example&password=secret", cookie...)

			await(t, p, `waybook_shadow_comparisons_total{func="getAlbum",outcome="allowed"} 2`)
			await(t, p, `waybook_shadow_comparisons_total{func="getAlbum",outcome="different"} 1`)
			await(t, p, `waybook_shadow_comparisons_total{func="getPOI",outcome="allowed"} 1`)
			await(t, p, `waybook_shadow_skipped_total{reason="unknown"} 4`)
			await(t, p, `waybook_shadow_skipped_total{reason="ambiguous"} 2`)
			await(t, p, `waybook_shadow_allowed_total{rule="image-hosts"} 3`)
			p.AwaitLog("replies differ")
			line := p.Logged()[strings.Index(p.Logged(), "replies differ"):]
			for _, part := range []string{"log=shadow", "func=getAlbum", fmt.Sprintf("subject=\"albumID=%d\"", w.albums[1]), "response/albumTitle: other text"} {
				if !strings.Contains(line, part) {
					t.Errorf("the log line has no %s:\n%s", part, line)
				}
			}
			if strings.Contains(p.Logged(), "planted") || strings.Contains(p.Logged(), "secret") || strings.Contains(p.Logged(), "3141592653589") {
				t.Errorf("the log has a text of a reply, or a secret:\n%s", p.Logged())
			}
			seen := old.Seen()
			slices.SortFunc(seen, func(a, b oldserver.Seen) int { return strings.Compare(a.Func, b.Func) })
			if len(seen) != 4 {
				t.Errorf("the old server got %d requests: %+v", len(seen), seen)
			}
			for _, each := range seen {
				if each.Cookie != `id=7; idrand="3141592653589"` || each.Func != "getAlbum" && each.Func != "getPOI" {
					t.Errorf("the old server got %+v", each)
				}
			}
		})
	}
}

// The old server does not answer, and nobody notices but the metrics.
func TestNoClientWaitsForTheShadow(t *testing.T) {
	t.Parallel()
	asked := make(chan struct{}, 10_000)
	release, end := context.WithCancel(t.Context())
	defer end()
	shadow := serve(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		asked <- struct{}{}
		<-release.Done()
	}))
	defer end()
	p := startStandalone(t, "-shadow", shadow, "-shadow-rate", "0", "-client-misses", "0")
	const workers = 8
	for range workers {
		send(t, p, api("func=getAlbum&albumID=1"), "")
		<-asked
	}
	// More and more reads wait, until some are dropped.
	for reads := 0; !strings.Contains(launch.Metrics(t, p.Admin), `waybook_shadow_skipped_total{reason="busy"}`); reads++ {
		for range 50 {
			if got := send(t, p, api("func=getAlbum&albumID=1"), ""); !strings.Contains(got.Body, "ALBUM NOT FOUND") {
				t.Fatalf("%+v", got)
			}
		}
		if reads == 100 {
			t.Fatal("5,000 reads wait for the old server")
		}
	}
	if status := p.End(os.Interrupt); status != 0 {
		t.Errorf("with requests to the old server in flight, the program ends with %d\n%s", status, p.Printed())
	}
}

func TestTheRateOfTheShadowIsLimited(t *testing.T) {
	t.Parallel()
	old := oldserver.New(oldserver.Content{})
	p := startStandalone(t, "-shadow", serve(t, old), "-shadow-rate", "0.001")
	for range 20 {
		send(t, p, api("func=getAlbum&albumID=1"), "")
	}
	await(t, p, `waybook_shadow_skipped_total{reason="rate"} 19`)
	await(t, p, `waybook_shadow_comparisons_total{func="getAlbum",outcome="allowed"} 1`)
}

func TestTheCertificateOfTheShadowIsVerified(t *testing.T) {
	t.Parallel()
	old := oldserver.New(oldserver.Content{})
	server := httptest.NewUnstartedServer(old)
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	t.Cleanup(server.Close)
	authority := filepath.Join(t.TempDir(), "ca.crt")
	if err := os.WriteFile(authority, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		environment []string
		outcome     string
		seen        int
	}{
		{nil, "unread", 0},
		{[]string{"SSL_CERT_FILE=" + authority}, "allowed", 1},
	} {
		p := launch.Begin(t, filepath.Join(binaries, "standalone"), test.environment, append(launch.FreePorts(t.TempDir()), "-shadow", server.URL)...).Ready()
		send(t, p, api("func=getAlbum&albumID=1"), "", "Cookie", "id=7; idrand=0123")
		await(t, p, fmt.Sprintf(`waybook_shadow_comparisons_total{func="getAlbum",outcome="%s"} 1`, test.outcome))
		if len(old.Seen()) != test.seen {
			t.Errorf("the old server got %+v", old.Seen())
		}
	}
}

func TestTheShadowLeadsToNoOtherServer(t *testing.T) {
	t.Parallel()
	other := oldserver.New(oldserver.Content{})
	elsewhere := serve(t, other)
	shadow := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, elsewhere+"/API.php", http.StatusTemporaryRedirect)
	}))
	p := startStandalone(t, "-shadow", shadow)
	send(t, p, api("func=getAlbum&albumID=1"), "", "Cookie", "id=7; idrand=0123")
	await(t, p, `waybook_shadow_comparisons_total{func="getAlbum",outcome="unread"} 1`)
	if seen := other.Seen(); len(seen) > 0 {
		t.Errorf("another server got %+v", seen)
	}
}

func TestInvalidSettingsOfTheComparisonAreReported(t *testing.T) {
	t.Parallel()
	for _, binary := range []string{"standalone", "edge"} {
		p := launch.Begin(t, filepath.Join(binaries, binary), nil,
			"-check", "-shadow", "http://a.example", "-primary", "http://b.example", "-shadow-sample", "0", "-shadow-rate", "-1", "-primary-read-only", strings.Repeat("x", 1001))
		if status := p.Wait(); status != 78 {
			t.Errorf("status %d", status)
		}
		for _, part := range []string{"-shadow and -primary exclude each other", "-shadow-sample is 0", "-shadow-rate is -1", "-primary-read-only has 1001 bytes"} {
			if !strings.Contains(p.Printed(), part) {
				t.Errorf("%q is not in:\n%s", part, p.Printed())
			}
		}
	}
}
