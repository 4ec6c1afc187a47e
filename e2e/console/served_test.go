package console_test

import (
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybook/waybook/e2e/launch"
)

// answer is what a client gets for a request, without what differs between any two replies.
type answer struct {
	Status  int
	Headers http.Header
	Body    string
}

// notFound is the answer of an edge that has no console.
var notFound = answer{404, http.Header{
	"Cache-Control": {"no-store"}, "Content-Length": {"105"}, "Content-Type": {"text/xml; charset=utf-8"},
	"Content-Security-Policy": {"default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'"}, "Referrer-Policy": {"no-referrer"},
	"Vary": {"Accept-Encoding"}, "X-Content-Type-Options": {"nosniff"}, "X-Waybook-Reason": {"NOT_FOUND"},
}, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<response><status>FAILED</status><info>NOT FOUND</info></response>"}

func ask(t *testing.T, p *launch.Process, method, path, form string) answer {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, "http://"+p.HTTP+path, strings.NewReader(form))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"Date", "X-Request-Id"} {
		response.Header.Del(name)
	}
	return answer{response.StatusCode, response.Header, string(body)}
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
			if isServed := got.Status == http.StatusOK; isServed != c.isOn {
				t.Errorf("%s: %s has status %d", name, path, got.Status)
			}
			if diff := cmp.Diff(notFound, got); !c.isOn && diff != "" {
				t.Errorf("%s: %s is not as without a console:\n%s", name, path, diff)
			}
		}
		got := ask(t, c.p, http.MethodPost, "/console/session", "id=&idrand=")
		if isServed := got.Status == http.StatusOK; isServed != c.isOn {
			t.Errorf("%s: /console/session has status %d", name, got.Status)
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
