package programs_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"google.golang.org/grpc"

	"github.com/waybook/waybook/e2e/launch"
	"github.com/waybook/waybook/internal/waybooktest"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// installed starts standalone with the example of settings, on ports and in a directory of the
// test's own.
func installed(t *testing.T, args ...string) *launch.Process {
	t.Helper()
	own := []string{"-config", filepath.Join(deploy, "systemd/waybook.yaml")}
	return launch.Start(t, binary, t.TempDir(), append(own, args...)...)
}

// expect checks a reply.
func expect(t *testing.T, reply waybooktest.Reply, status int, part string) {
	t.Helper()
	if reply.Code != status || !strings.Contains(reply.Body, part) {
		t.Errorf("got %d %.300q, want %d and %q", reply.Code, reply.Body, status, part)
	}
}

func TestOperationsPassTheProxies(t *testing.T) {
	t.Parallel()
	waybook := installed(t, "-demo", "-cookie-secure=auto") // so that Secure needs X-Forwarded-Proto
	password, err := os.ReadFile(filepath.Join(waybook.Data, "demo-password"))
	if err != nil {
		t.Fatal(err)
	}
	eachProxy(t, waybook.HTTP, func(t *testing.T, p *proxy) {
		client := p.client("127.0.0.1")
		const success = "<status>SUCCESS</status>"
		const list, album = "func=getCategoryPOIList&category=2", "func=addAlbum&albumTitle=夜市&category=7&lat=25.0881&lng=121.5241"
		begun := waybooktest.Must(client.Begin(client.Form(http.MethodGet, list)))(t)
		waybooktest.OK(t, begun.Body.Close())
		if begun.ProtoMajor != 2 || begun.Header.Get("Strict-Transport-Security") == "" {
			t.Errorf("%s, headers %v", begun.Proto, begun.Header)
		}
		expect(t, client.Get(list), 200, success)
		expect(t, client.Post(album), 200, "LOGIN REQUIRED")
		login := client.Post("func=login&email=demo@waybook.example&password=" + url.QueryEscape(strings.TrimSpace(string(password))))
		expect(t, login, 200, success)
		for _, cookie := range login.Header.Values("Set-Cookie") {
			if !strings.Contains(cookie, "; Secure") {
				t.Errorf("the cookie %s is not Secure", cookie)
			}
		}
		expect(t, client.Post(album), 200, success)
	})
}

func TestTheProxiesLeaveTheBoundsToTheEdge(t *testing.T) {
	t.Parallel()
	waybook := installed(t)
	eachProxy(t, waybook.HTTP, func(t *testing.T, p *proxy) {
		client := p.client("127.0.0.1")
		const list, success = "func=getCategoryPOIList&category=2", "<status>SUCCESS</status>"
		for _, kib := range []int{1, 1900} {
			expect(t, client.Post(list+"&more="+strings.Repeat("x", kib<<10)), 200, success)
		}
		expect(t, client.Get(list+"&more="+strings.Repeat("x", 20<<10)), 200, success)
		expect(t, client.Post(list+"&more="+strings.Repeat("x", 2<<20)), 413, "REQUEST TOO LARGE")
	})
}

func TestTheProxiesRedirectToTLS(t *testing.T) {
	t.Parallel()
	waybook := installed(t)
	eachProxy(t, waybook.HTTP, func(t *testing.T, p *proxy) {
		client := p.client("127.0.0.1")
		client.URL = "http://" + site + "/API.php?func=login"
		reply := client.Post("email=a")
		location, err := url.Parse(reply.Header.Get("Location"))
		if reply.Code != http.StatusPermanentRedirect || err != nil || location.Scheme != "https" ||
			location.Hostname() != site || location.RequestURI() != "/API.php?func=login" {
			t.Errorf("%d to %v, %v", reply.Code, location, err)
		}
	})
}

func TestTheEdgeLearnsTheClientsAddressAndNoInventedOne(t *testing.T) {
	t.Parallel()
	for _, each := range kinds() {
		t.Run(each.name, func(t *testing.T) {
			waybook := installed(t, "-client-rate", "0.00001") // one request of an address in a day
			p := startProxy(t, each, waybook.HTTP)
			const list = "func=getCategoryPOIList&category=2"
			first, second := p.client("127.0.0.2"), p.client("127.0.0.3")
			expect(t, first.Get(list), 200, "SUCCESS")
			expect(t, first.Get(list), 429, "TOO MANY REQUESTS")
			for _, invented := range []string{"203.0.113.9", "203.0.113.9, 203.0.113.10", "127.0.0.3", ""} {
				first.Header.Set("X-Forwarded-For", invented)
				first.Header.Set("X-Real-IP", invented)
				first.Header.Set("Forwarded", "for="+invented)
				expect(t, first.Get(list), 429, "TOO MANY REQUESTS")
			}
			second.Header.Set("X-Forwarded-For", "127.0.0.2")
			expect(t, second.Get(list), 200, "SUCCESS")
			second.Header.Del("X-Forwarded-For")
			expect(t, second.Get(list), 429, "TOO MANY REQUESTS")
		})
	}
}

// pois is a service of landmarks that has a long list of two pages.
type pois struct {
	poiv1.UnimplementedPoiServiceServer
	// more lets it return the second page.
	more chan struct{}
}

// name is the name of a landmark. Its last character is nowhere else in the reply.
const name = "景點~"

// firstPart is the number of landmarks of the first part. It is so short that a proxy which gathers
// replies would keep it.
const firstPart, secondPart = 10, 5000

// ListPois returns some landmarks, and many more once the client has the first ones.
func (p *pois) ListPois(ctx context.Context, request *poiv1.ListPoisRequest) (*poiv1.ListPoisResponse, error) {
	if request.GetPageToken() == "" {
		return &poiv1.ListPoisResponse{Summaries: somePois(0, firstPart), NextPageToken: "more"}, nil
	}
	select {
	case <-p.more:
		return &poiv1.ListPoisResponse{Summaries: somePois(firstPart, secondPart)}, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func somePois(from, count int64) (some []*typev1.Summary) {
	for i := range count {
		some = append(some, &typev1.Summary{Id: from + i + 1, Title: name})
	}
	return some
}

func TestALongListBeginsBeforeItsEndIsMade(t *testing.T) {
	t.Parallel()
	service := &pois{more: make(chan struct{})}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer()
	poiv1.RegisterPoiServiceServer(server, service)
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	process := launch.Begin(t, filepath.Join(binaries, "edge"), nil, "-http", "127.0.0.1:0", "-admin", "127.0.0.1:0", "-trusted-proxies", "1",
		"-poi", listener.Addr().String()).Ready()
	eachProxy(t, process.HTTP, func(t *testing.T, p *proxy) {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		client := p.client("127.0.0.1")
		client.Context = ctx
		response, err := client.Begin(client.Form(http.MethodGet, "func=getCategoryPOIList&category=1"))
		if err != nil {
			t.Fatalf("the list does not begin before its end is made: %v", err)
		}
		defer func() { _ = response.Body.Close() }()
		reader := bufio.NewReader(response.Body)
		for range firstPart {
			if _, err := reader.ReadString(name[len(name)-1]); err != nil {
				t.Fatalf("the first part does not arrive before the second is made: %v", err)
			}
		}
		select {
		case service.more <- struct{}{}:
		case <-ctx.Done():
			t.Fatal("the first part arrived after the edge had given the second up")
		}
		rest, err := io.ReadAll(reader)
		if count := strings.Count(string(rest), name); err != nil || count != secondPart {
			t.Errorf("%d landmarks, %v", count, err)
		}
	})
}

func TestThePhotosOfAnOldServiceAreServedByTheProxies(t *testing.T) {
	t.Parallel()
	eachProxy(t, installed(t).HTTP, func(t *testing.T, p *proxy) {
		client := p.client("127.0.0.1")
		get := func(name string) waybooktest.Reply {
			client.URL = "https://" + site + "/upload/photo/" + name
			return client.Get("")
		}
		photo := get("1.jpg")
		expect(t, photo, 200, "of old")
		header := photo.Header
		if header.Get("Content-Type") != "image/jpeg" || header.Get("X-Content-Type-Options") != "nosniff" || header.Get("Cache-Control") != "public, max-age=86400" {
			t.Error(header)
		}
		expect(t, get("2.jpg"), 404, "")
		// Waybook's own are its own.
		client.URL = "https://" + site + "/upload/album/1/2-thumb.jpg"
		expect(t, client.Get(""), 404, "ALBUM NOT FOUND")
		expect(t, get(""), 404, "")
	})
}

// Waybook is down, breaks connections, does not answer, or is not asked because the body is too large.
func TestTheProxiesFailInXML(t *testing.T) {
	t.Parallel()
	listen := func(serve func(net.Conn)) string {
		t.Helper()
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = listener.Close() })
		go func() {
			var open []net.Conn // one that nothing refers to is closed when it is collected
			for connection, err := listener.Accept(); err == nil; connection, err = listener.Accept() {
				open = append(open, connection)
				serve(connection)
			}
			runtime.KeepAlive(open)
		}()
		return listener.Addr().String()
	}
	failure := func(info string) string {
		return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<response><status>FAILED</status><info>" + info + "</info></response>"
	}
	form := func(bytes int) string { return "func=getPOI&more=" + strings.Repeat("x", bytes) }
	for _, c := range []struct {
		name, upstream, body string
		status               int
		info, retry          string
	}{
		{"down", launch.Address(t), form(1), 502, "SERVICE UNAVAILABLE", "5"},
		{"broken", listen(func(c net.Conn) { _ = c.Close() }), form(1), 502, "SERVICE UNAVAILABLE", "5"},
		{"slow", listen(func(net.Conn) {}), form(1), 504, "SERVICE TIMEOUT", "5"},
		{"too large", installed(t).HTTP, form(25 << 20), 413, "REQUEST TOO LARGE", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			eachProxy(t, c.upstream, func(t *testing.T, p *proxy) {
				reply := p.client("127.0.0.1").Post(c.body)
				expect(t, reply, c.status, failure(c.info))
				if got := reply.Header; got.Get("Content-Type") != "text/xml; charset=utf-8" || got.Get("Retry-After") != c.retry {
					t.Errorf("%v", got)
				}
			})
		})
	}
}

// A photo, and the refusal of one that a client sends whole before it reads.
func TestPhotosPassTheProxies(t *testing.T) {
	t.Parallel()
	waybook := installed(t, "-demo")
	password, err := os.ReadFile(filepath.Join(waybook.Data, "demo-password"))
	if err != nil {
		t.Fatal(err)
	}
	eachProxy(t, waybook.HTTP, func(t *testing.T, p *proxy) {
		client := p.client("127.0.0.1")
		login := client.Post("func=login&email=demo@waybook.example&password=" + url.QueryEscape(strings.TrimSpace(string(password))))
		login.MustSucceed(t)
		album := client.Post("func=addAlbum&albumTitle=x&category=1&lat=1&lng=2").MustSucceed(t).Text("albumID")
		send := func(size int) waybooktest.Reply {
			const picture = "GIF89a\x01\x00\x01\x00\x80\x00\x00\xff\xff\xff\x00\x00\x00,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02D\x01\x00;"
			body := "--b\r\nContent-Disposition: form-data; name=\"photo\"; filename=\"a.gif\"\r\n\r\n" + picture + strings.Repeat("\x00", size) + "\r\n--b--\r\n"
			request := client.Request(http.MethodPost, "func=addPhoto&albumID="+album, strings.NewReader(body))
			request.Header.Set("Content-Type", "multipart/form-data; boundary=b")
			return client.Send(request)
		}
		expect(t, send(0), 200, "SUCCESS")
		expect(t, send(19<<20), 200, "SUCCESS")
		expect(t, send(21<<20), 200, "PHOTO TOO LARGE")
		clear(client.Cookies)
		expect(t, send(19<<20), 200, "LOGIN REQUIRED")
	})
}
