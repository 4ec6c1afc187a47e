package console_test

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybook/waybook/e2e/launch"
	"github.com/waybook/waybook/internal/waybooktest"
)

// notFound is the reply of an edge that has no console, without what differs between any two replies.
var notFound = waybooktest.Reply{Code: 404, Header: http.Header{
	"Cache-Control": {"no-store"}, "Content-Length": {"105"}, "Content-Type": {"text/xml; charset=utf-8"},
	"Content-Security-Policy": {"default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'"}, "Referrer-Policy": {"no-referrer"},
	"Vary": {"Accept-Encoding"}, "X-Content-Type-Options": {"nosniff"}, "X-Waybook-Reason": {"NOT_FOUND"},
}, Body: "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<response><status>FAILED</status><info>NOT FOUND</info></response>"}

func ask(t *testing.T, p *launch.Process, method, path, form string) waybooktest.Reply {
	t.Helper()
	client := waybooktest.ClientAt(t, p.HTTP)
	client.URL = "http://" + p.HTTP + path
	client.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	reply := client.Send(client.Request(method, "", strings.NewReader(form)))
	for _, name := range []string{"Date", "X-Request-Id"} {
		reply.Header.Del(name)
	}
	return reply
}

// edgeAlone starts an edge that reaches no service.
func edgeAlone(t *testing.T, args ...string) *launch.Process {
	t.Helper()
	own := []string{"-http", "127.0.0.1:0", "-admin", "127.0.0.1:0"}
	return launch.Begin(t, filepath.Join(binaries, "edge"), nil, append(own, args...)...).Ready()
}

func TestTheConsoleIsServedOnlyWhereItIsOn(t *testing.T) {
	for name, c := range map[string]struct {
		p    *launch.Process
		isOn bool
	}{
		"standalone":                {start(t, "-demo=false"), true},
		"standalone -console=false": {start(t, "-demo=false", "-console=false"), false},
		"edge":                      {edgeAlone(t), false},
		"edge -console":             {edgeAlone(t, "-console"), true},
	} {
		for _, path := range []string{"/", "/console/operations.json", "/console/health.json"} {
			got := ask(t, c.p, http.MethodGet, path, "")
			if isServed := got.Code == http.StatusOK; isServed != c.isOn {
				t.Errorf("%s: %s has status %d", name, path, got.Code)
			}
			if diff := cmp.Diff(notFound, got); !c.isOn && diff != "" {
				t.Errorf("%s: %s is not as without a console:\n%s", name, path, diff)
			}
		}
		got := ask(t, c.p, http.MethodPost, "/console/session", "id=&idrand=")
		if isServed := got.Code == http.StatusOK; isServed != c.isOn {
			t.Errorf("%s: /console/session has status %d", name, got.Code)
		}
		for _, path := range []string{"/nothing", "/console/", "/index.html"} {
			if diff := cmp.Diff(notFound, ask(t, c.p, http.MethodGet, path, "")); diff != "" {
				t.Errorf("%s: %s is not as without a console:\n%s", name, path, diff)
			}
		}
	}
}

func TestAWrongAddressOfTilesEndsTheStart(t *testing.T) {
	p := launch.Begin(t, filepath.Join(binaries, "edge"), nil, "-console", "-console-tiles", "https://tiles.example/{z}/{x}")
	if status := p.Wait(); status != 78 || !strings.Contains(p.Printed(), "{y}") {
		t.Errorf("status %d: %s", status, p.Printed())
	}
}
