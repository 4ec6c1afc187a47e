package operations_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/waybook/waybook/e2e/launch"
	"github.com/waybook/waybook/internal/longform"
	"github.com/waybook/waybook/internal/platform/tracing/tracingtest"
	"github.com/waybook/waybook/internal/waybooktest"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

const (
	// marker is in everything that only a store may keep: texts of users, passwords, addresses,
	// credential headers, and arbitrary input of clients.
	marker = "s3cr3t"
	// wrongToken has the form of a session secret but opens no session.
	wrongToken = "5ec2e75ec2e75ec2e75ec2e75ec2e75e"
	// forged, form-encoded, would add two lines to the log, one of them in red, if it were logged
	// unescaped.
	forged = "x%0A%1B%5B31mtime=1+level=ERROR+msg=forged%0D%0A%7B%22level%22:%22ERROR%22%7D"
)

func TestNoSecretIsRevealedAndNoLineIsForged(t *testing.T) {
	t.Parallel()
	for name, start := range deployments {
		for _, format := range []string{"text", "json"} {
			if !longform.Selected() && (name == "one process") != (format == "text") {
				continue // in the short form, each deployment has one format
			}
			t.Run(name+" "+format, func(t *testing.T) {
				collector := tracingtest.Start(t)
				s := start(t, t.TempDir(), "-otlp-endpoint", collector.URL, "-log-level=debug", "-log-format", format, "-pprof")
				user, token := callServices(t, s)
				requests, tokens := sendRequests(t, s, cookieOf(user, token))
				text := scrapeAll(t, s) // before some processes are killed
				requests += sendRequestsToTheDead(t, s, cookieOf(user, token))
				s.end(t)

				logs := checkLines(t, s, format)
				if lines := strings.Count(logs, "request_id"); lines < requests {
					t.Errorf("%d lines of %d requests\n%s", lines, requests, logs)
				}
				for _, event := range []string{"user_created", "session_opened", "login"} {
					if !hasEvent(logs, format, event) {
						t.Errorf("the audit log has no line of a %s", event)
					}
				}
				text += logs
				for _, span := range collector.Spans() {
					text += span.String() + "\n"
				}
				if !strings.Contains(text, "AlbumService/CreateAlbum") || !strings.Contains(text, "waybook_store_call") {
					t.Error("some of the expected telemetry is missing")
				}
				for _, secret := range append(tokens, marker, wrongToken, token) {
					if i := strings.Index(strings.ToLower(text), secret); i >= 0 {
						t.Errorf("%q is revealed: …%s…", secret, text[max(0, i-300):min(len(text), i+100)])
					}
				}
			})
		}
	}
}

// callServices makes valid and invalid calls with secrets, and returns an open session.
func callServices(t *testing.T, s site) (user int64, token string) {
	t.Helper()
	ctx := metadata.AppendToOutgoingContext(t.Context(), "authorization", "Bearer "+marker, "x-request-id", marker+" "+marker)
	connection := launch.Dial(t, s.account)
	accounts := accountv1.NewAccountServiceClient(connection)
	created, err := accounts.CreateUser(ctx, &accountv1.CreateUserRequest{
		Name: marker, Email: marker + "@example.com", Password: marker + marker, IconUrl: marker,
	})
	if err != nil {
		t.Fatal(err)
	}
	user = created.GetUser().GetUserId()
	opened, err := accounts.OpenSession(ctx, &accountv1.OpenSessionRequest{UserId: user})
	if err != nil {
		t.Fatal(err)
	}
	albums := albumv1.NewAlbumServiceClient(launch.Dial(t, s.album))
	for name, call := range map[string]func() error{
		"a bad address": func() error {
			return failed(accounts.CreateUser(ctx, &accountv1.CreateUserRequest{Name: "a", Email: marker}))
		},
		"a bad password": func() error {
			return failed(accounts.Authenticate(ctx, &accountv1.AuthenticateRequest{Email: marker + "@example.com", Password: marker}))
		},
		"a wrong token": func() error {
			return failed(accounts.VerifySession(ctx, &accountv1.VerifySessionRequest{UserId: user, Token: wrongToken}))
		},
		"no token": func() error {
			return failed(accounts.VerifySession(ctx, &accountv1.VerifySessionRequest{UserId: user, Token: marker}))
		},
		"a bad page token": func() error {
			return failed(albums.ListAlbums(ctx, &albumv1.ListAlbumsRequest{OwnerId: user, PageToken: marker}))
		},
		"no place": func() error {
			return failed(albums.CreateAlbum(ctx, &albumv1.CreateAlbumRequest{OwnerId: user, Title: marker, Category: 1}))
		},
		"no owner": func() error { return failed(albums.CreateAlbum(ctx, newAlbumRequest(1))) },
		"no method": func() error {
			return connection.Invoke(ctx, "/waybook.account.v1.AccountService/"+marker, &emptypb.Empty{}, &emptypb.Empty{})
		},
		"no service": func() error {
			return connection.Invoke(ctx, "/waybook."+marker+"/X", &emptypb.Empty{}, &emptypb.Empty{})
		},
	} {
		if call() == nil {
			t.Errorf("%s is accepted", name)
		}
	}
	if _, err := albums.CreateAlbum(ctx, newAlbumRequest(user)); err != nil {
		t.Fatal(err)
	}
	return user, opened.GetToken()
}

// hasEvent reports whether a log has a line of the audit log with an event.
func hasEvent(logs, format, event string) bool {
	fields := "log=audit event=" + event + " "
	if format == "json" {
		fields = `"log":"audit","event":"` + event + `",`
	}
	return strings.Contains(logs, fields)
}

func cookieOf(user int64, token string) string { return fmt.Sprintf("id=%d; idrand=%s", user, token) }

func newAlbumRequest(owner int64) *albumv1.CreateAlbumRequest {
	return &albumv1.CreateAlbumRequest{OwnerId: owner, Title: marker, Category: 1, Location: &typev1.Location{Lat: 1, Lng: 2}}
}

func failed[T any](_ T, err error) error { return err }

// sendRequests sends valid and invalid requests to the edge, with secrets in every place. It
// returns their number, and the tokens of the sessions that they got.
func sendRequests(t *testing.T, s site, cookie string) (count int, tokens []string) {
	t.Helper()
	const (
		add   = "func=addAlbum&category=1&lat=1&lng=2&albumTitle=" + marker
		login = "func=login&email=" + marker + "@example.com&password="
	)
	for name, r := range map[string]struct {
		method, path, cookie, contentType, body string
		wants                                   string
	}{
		"a good write":      {"POST", "/API.php?key=" + marker + "&sig=" + marker, cookie, "", add, "SUCCESS"},
		"a forged title":    {"POST", "/API.php", cookie, "", add + forged, "INVALID"},
		"a line in a title": {"POST", "/API.php", cookie, "", add + "%0Alevel=ERROR", "SUCCESS"},
		"a good read":       {"GET", "/API.php?func=getCategoryPOIList&category=1&key=" + marker, cookie, "", "", "SUCCESS"},
		"nothing there":     {"GET", "/API.php?func=getAlbum&albumID=1&key=" + marker, "", "", "", "ALBUM NOT FOUND"},
		"a wrong session":   {"POST", "/API.php", "id=7; idrand=" + wrongToken, "", add, "LOGIN REQUIRED"},
		"no session":        {"POST", "/API.php", "id=7; idrand=" + marker, "", add, "LOGIN REQUIRED"},
		"a write by GET":    {"GET", "/API.php?" + add, cookie, "", "", "POST REQUIRED"},
		"an unknown func":   {"GET", "/API.php?func=" + marker + forged, "", "", "", "INVALID"},
		"a broken encoding": {"POST", "/API.php", cookie, "", add + "%zz&" + marker + "=%zz", "INVALID ENCODING"},
		"another type":      {"POST", "/API.php", cookie, "text/" + marker, add, "INVALID CONTENT TYPE"},
		"another path":      {"GET", "/" + marker + "/%0Alevel=ERROR", "", "", "", "NOT FOUND"},
		"another method":    {strings.ToUpper(marker), "/API.php?" + add, cookie, "", "", "METHOD NOT ALLOWED"},
		"too much":          {"POST", "/API.php", cookie, "", add + strings.Repeat(marker, 400_000), "REQUEST TOO LARGE"},
		"too many":          {"POST", "/API.php", cookie, "", add + strings.Repeat("&"+marker+"=1", 101), "TOO MANY PARAMETERS"},
		"a login":           {"POST", "/API.php", "", "", login + marker + marker, "</status>"},
		"a wrong password":  {"POST", "/API.php", "", "", login + marker, "FAILED"},
		"a bad number":      {"POST", "/API.php", cookie, "", add + "&lat=" + marker, "INVALID PARAMETER"},
		"a bad format":      {"GET", "/API.php?func=getAlbum&albumID=1&responseFormat=" + marker, "", "", "", "INVALID PARAMETER"},
	} {
		body := ask(t, s, r.method, r.path, r.cookie, r.contentType, r.body).Body
		if !strings.Contains(body, r.wants) {
			t.Errorf("%s: no %s in %s", name, r.wants, body)
		}
		if _, rest, isOpened := strings.Cut(body, "<idrand>"); isOpened {
			tokens = append(tokens, rest[:len(wrongToken)])
		}
		count++
	}
	return count, tokens
}

// ask sends a request that has secrets in its headers too.
func ask(t *testing.T, s site, method, path, cookie, contentType, body string) waybooktest.Reply {
	t.Helper()
	client := waybooktest.OnceAt(t, s.http).WithCookie(cookie + "; other=" + marker)
	client.URL = "http://" + s.http + path
	for _, name := range []string{"Authorization", "User-Agent", "Referer", "X-Request-Id", "X-Forwarded-For", "Forwarded"} {
		client.Header.Set(name, marker)
	}
	client.Header.Set("Traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
	client.Header.Set("Tracestate", "vendor="+marker)
	client.Header.Set("Baggage", "user="+marker)
	client.Header.Set("Content-Type", cmp.Or(contentType, "application/x-www-form-urlencoded"))
	if len(body) > 1<<20 { // the edge refuses it before the body is sent
		client.Header.Set("Expect", "100-continue")
	}
	return client.Send(client.Request(method, "", strings.NewReader(body)))
}

// sendRequestsToTheDead kills services behind the edge and sends requests that need them. It does
// nothing for a single process.
func sendRequestsToTheDead(t *testing.T, s site, cookie string) (count int) {
	t.Helper()
	for _, name := range []string{"album", "account"} {
		p := s.processes[name]
		if p == nil {
			continue
		}
		p.End(os.Kill)
		const add = "func=addAlbum&category=1&lat=1&lng=2&albumTitle=" + marker
		if reply := ask(t, s, "POST", "/API.php", cookie, "", add); reply.Text("info") != "SERVICE UNAVAILABLE" {
			t.Errorf("without %s: %s", name, reply.Body)
		}
		count++
	}
	return count
}

// scrapeAll returns the metrics and the profiles index of all processes.
func scrapeAll(t *testing.T, s site) string {
	t.Helper()
	var text strings.Builder
	for _, p := range s.processes {
		for _, path := range []string{"/metrics", "/debug/pprof/", "/readyz"} {
			text.WriteString(launch.Get(t, "http://"+p.Admin+path))
		}
	}
	return text.String()
}

// checkLines checks that the log of each process consists of valid lines, and returns all logs.
func checkLines(t *testing.T, s site, format string) string {
	t.Helper()
	var all strings.Builder
	for name, p := range s.processes {
		logs := p.Logged()
		all.WriteString(logs + p.Out())
		if strings.ContainsAny(logs, "\x1b\r") {
			t.Errorf("%s logs control characters: %q", name, logs)
		}
		for line := range strings.Lines(logs) {
			if format == "json" && !json.Valid([]byte(line)) || format == "text" && !strings.HasPrefix(line, "time=20") {
				t.Errorf("%s logs an invalid line: %s", name, line)
			}
		}
	}
	return all.String()
}
