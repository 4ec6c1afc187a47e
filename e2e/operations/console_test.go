package operations_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/waybook/waybook/e2e/launch"
	"github.com/waybook/waybook/e2e/launch/deskrun"
)

// desk is a running waybookctl console, and a browser of it that has its cookie.
type desk struct {
	t *testing.T
	// opens is the address that the command printed, and base the one without the secret.
	opens, base string
	browser     *http.Client
}

// startConsole runs waybookctl console on a process until the end of the test.
func startConsole(t *testing.T, p *launch.Process, args ...string) *desk {
	t.Helper()
	at, err := url.Parse(deskrun.Start(t, p, append([]string{"--timeout", "3s"}, args...)...))
	if err != nil {
		t.Fatal(err)
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &desk{t, at.String(), "http://" + at.Host, &http.Client{Jar: jar}}
}

// open opens the printed address.
func (d *desk) open() *desk {
	d.t.Helper()
	if status, body := d.ask(http.MethodGet, strings.TrimPrefix(d.opens, d.base), nil); status != http.StatusOK {
		d.t.Fatalf("%d %s", status, body)
	}
	return d
}

// ask sends a request and returns the status and the body. "Host" among the headers is that of the request.
func (d *desk) ask(method, path string, headers map[string]string) (int, string) {
	d.t.Helper()
	request, err := http.NewRequestWithContext(d.t.Context(), method, d.base+path, nil)
	if err != nil {
		d.t.Fatal(err)
	}
	for name, value := range headers {
		request.Header.Set(name, value)
		if name == "Host" {
			request.Host = value
		}
	}
	response, err := d.browser.Do(request)
	if err != nil {
		d.t.Fatal(err)
	}
	var body []byte
	if response.StatusCode != http.StatusOK || !strings.HasSuffix(path, "/events") { // events have no end
		body, err = io.ReadAll(response.Body)
	}
	if err := response.Body.Close(); err != nil {
		d.t.Fatal(err)
	}
	if err != nil {
		d.t.Fatal(err)
	}
	return response.StatusCode, string(body)
}

// read asks for what must succeed and decodes it.
func (d *desk) read(method, path string, into any) {
	d.t.Helper()
	status, body := d.ask(method, path, nil)
	if status != http.StatusOK {
		d.t.Fatalf("%s %s: %d %s", method, path, status, body)
	}
	if err := json.Unmarshal([]byte(body), into); err != nil {
		d.t.Fatalf("%s %s: %v in %s", method, path, err, body)
	}
}

// pathsOfConsole are the paths of what the pages read and do.
var pathsOfConsole = map[string][]string{
	http.MethodGet:  {"/", "/users", "/users/1", "/users/1/export", "/requests/events", "/deleted/events", "/moves/events", "/moves/old-passwords", "/state/events"},
	http.MethodPost: {"/users/1/disable", "/users/1/enable", "/users/1/close-sessions"},
}

func TestTheConsoleServesOneBrowserWithTheSecretOnly(t *testing.T) {
	t.Parallel()
	p := startEmpty(t)
	user := operator{t, p.GRPC}.createUser("a")
	d := startConsole(t, p)
	everywhere := func(want int, headers map[string]string) {
		t.Helper()
		for method, paths := range pathsOfConsole {
			for _, path := range paths {
				path = strings.Replace(path, "/1", "/"+user, 1)
				if want == http.StatusForbidden && method == http.MethodGet && headers != nil {
					continue // a page of another site sends it, and cannot read the reply
				}
				if status, body := d.ask(method, path, headers); status != want {
					t.Errorf("%s %s with %v: %d %s, want %d", method, path, headers, status, body, want)
				}
			}
		}
	}
	everywhere(http.StatusForbidden, nil)
	for _, path := range []string{"/open", "/open?secret=", "/open?secret=AAAA"} {
		if status, _ := d.ask(http.MethodGet, path, nil); status != http.StatusForbidden {
			t.Errorf("%s: %d", path, status)
		}
	}
	d.open()
	everywhere(http.StatusMisdirectedRequest, map[string]string{"Host": "attacker.example:" + strings.Split(d.base, ":")[2]})
	everywhere(http.StatusMisdirectedRequest, map[string]string{"Host": "127.0.0.1"})
	everywhere(http.StatusForbidden, map[string]string{"Sec-Fetch-Site": "cross-site"})
	everywhere(http.StatusForbidden, map[string]string{"Sec-Fetch-Site": "same-site"})
	everywhere(http.StatusForbidden, map[string]string{"Origin": "http://attacker.example"})
	var shown shownUser
	d.read(http.MethodGet, "/users/"+user, &shown)
	if shown.User.Disabled {
		t.Error("a refused request disabled the user")
	}
	everywhere(http.StatusOK, nil)
	d.open() // again, in the same browser
	other := &desk{t, d.opens, d.base, &http.Client{}}
	if status, body := other.ask(http.MethodGet, strings.TrimPrefix(d.opens, d.base), nil); status != http.StatusForbidden || !strings.Contains(body, "used already") {
		t.Errorf("another browser: %d %s", status, body)
	}
}

func TestTheConsoleListensOnLoopbackOnly(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"0.0.0.0:0", ":0", "192.0.2.1:0", "nonsense"} {
		operator{t, "unix:/nowhere"}.run("", "console", "--listen", address).expect(2, "is not a loopback address")
	}
}

// shownUser is a user as the console gets it.
type shownUser struct {
	User struct {
		ID       int64 `json:"user_id"`
		Name     string
		Disabled bool
	}
	Sessions []struct {
		ID string `json:"session_id"`
	}
}

func TestTheConsoleFindsUsersAndChangesThem(t *testing.T) {
	t.Parallel()
	p := startEmpty(t)
	o := operator{t, p.GRPC}
	id := o.createUser("Mina")
	o.must("user", "create", "Otto", "--email", "otto@example.org", "--no-password")
	o.createAlbum(id, "Harbour")
	o.openSession(id)
	o.openSession(id)
	d := startConsole(t, p).open()
	for text, want := range map[string][]string{"": {"Mina", "Otto"}, "mi": {"Mina"}, "OTTO@": {"Otto"}, id: {"Mina"}, "x": nil, "7": nil} {
		var found struct{ Users []struct{ Name string } }
		d.read(http.MethodGet, "/users?find="+url.QueryEscape(text), &found)
		var names []string
		for _, each := range found.Users {
			names = append(names, each.Name)
		}
		if slices.Sort(names); !slices.Equal(names, want) {
			t.Errorf("%q finds %q, want %q", text, names, want)
		}
	}
	var shown shownUser
	if d.read(http.MethodGet, "/users/"+id, &shown); shown.User.Name != "Mina" || shown.User.Disabled || len(shown.Sessions) != 2 {
		t.Errorf("shown is %+v", shown)
	}
	first := shown.Sessions[0].ID
	if d.read(http.MethodPost, "/users/"+id+"/sessions/"+first+"/close", &shown); len(shown.Sessions) != 1 || shown.Sessions[0].ID == first {
		t.Errorf("after closing %s: %+v", first, shown)
	}
	if status, body := d.ask(http.MethodPost, "/users/"+id+"/sessions/"+first+"/close", nil); status != http.StatusNotFound || !strings.Contains(body, first) {
		t.Errorf("again: %d %s", status, body)
	}
	if d.read(http.MethodPost, "/users/"+id+"/close-sessions", &shown); len(shown.Sessions) != 0 {
		t.Errorf("after closing: %+v", shown)
	}
	o.openSession(id)
	if d.read(http.MethodPost, "/users/"+id+"/disable", &shown); !shown.User.Disabled || len(shown.Sessions) != 0 {
		t.Errorf("after disabling: %+v", shown)
	}
	shown = shownUser{}
	if d.read(http.MethodPost, "/users/"+id+"/enable", &shown); shown.User.Disabled {
		t.Errorf("after enabling: %+v", shown)
	}
	file := filepath.Join(t.TempDir(), "export")
	o.must("user", "export", id, file)
	if status, body := d.ask(http.MethodGet, "/users/"+id+"/export", nil); status != http.StatusOK || body != readFile(t, file) || !strings.Contains(body, "Harbour") {
		t.Errorf("the export is %d %s, want what user export writes", status, body)
	}
}

// Every failure is shown with the sentence that the other commands print.
func TestTheConsoleExplainsWhatFails(t *testing.T) {
	t.Parallel()
	p := startEmpty(t)
	d := startConsole(t, p).open()
	expect := func(want int, sentence string) {
		t.Helper()
		for method, paths := range pathsOfConsole {
			for _, path := range paths {
				if path == "/" || strings.HasSuffix(path, "/events") || (path == "/users" || path == "/moves/old-passwords") && want == http.StatusNotFound {
					continue
				}
				status, body := d.ask(method, path, nil)
				var failure struct{ Message string }
				if err := json.Unmarshal([]byte(body), &failure); err != nil || status != want || !strings.Contains(failure.Message, sentence) {
					t.Errorf("%s %s: %d %s, want %d %q", method, path, status, body, want, sentence)
				}
			}
		}
	}
	expect(http.StatusNotFound, "user 1")
	if status, body := d.ask(http.MethodGet, "/users/x", nil); status != http.StatusBadRequest || !strings.Contains(body, "not the identifier") {
		t.Errorf("%d %s", status, body)
	}
	p.End(syscall.SIGTERM)
	expect(http.StatusServiceUnavailable, "no account service answers at "+p.GRPC)
}
