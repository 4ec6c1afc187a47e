package contract

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/waybook/waybook/e2e/launch"
	"github.com/waybook/waybook/internal/waybooktest"
)

// waybook is a running Waybook with a user, an album and an entry.
type waybook struct {
	*waybooktest.Waybook
	t                 *testing.T
	cookie            string
	user, album, blog string
	client            *waybooktest.Client
	logged            *lines
}

// lines is a log that may be written concurrently.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write appends to the log.
func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func start(t *testing.T) *waybook {
	t.Helper()
	logged := &lines{}
	w := &waybook{t: t, logged: logged, Waybook: waybooktest.Start(t,
		waybooktest.Flags("-access-log"), waybooktest.Log(slog.New(slog.NewTextHandler(logged, nil))))}
	user := launch.CreateUser(t, w.Connection, "小旅人")
	w.user, w.client = strconv.FormatInt(user, 10), w.Client()
	w.cookie = w.As(user).Cookie()
	for _, each := range []struct {
		id   *string
		name string
		form string
	}{
		{&w.album, "albumID", "func=addAlbum&albumTitle=a&category=5&lat=1&lng=2"},
		{&w.blog, "blogID", "func=postBlog&type=0_1&blogTitle=a&blogContent=b&year=2026&month=2&day=28&lat=1&lng=2&weather=" + url.QueryEscape("有彩虹")},
	} {
		made := w.post(each.form, w.cookie)
		var ok bool
		if *each.id, ok = made.element(each.name); !ok {
			t.Fatalf("%s: %s", each.form, made.body)
		}
	}
	return w
}

func (w *waybook) newRequest(method, form string) *http.Request {
	w.t.Helper()
	r := w.client.Request(method, "", strings.NewReader(form))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return r
}

// post sends a form and returns the reply.
func (w *waybook) post(form, cookie string) answer {
	w.t.Helper()
	r := w.newRequest(http.MethodPost, form)
	if cookie != "" {
		r.Header.Set("Cookie", cookie)
	}
	return w.send(r)
}

func (w *waybook) send(r *http.Request) answer {
	w.t.Helper()
	reply := w.client.Send(r)
	return answer{reply.Code, reply.Header, []byte(reply.Body)}
}

// checkLog checks that no request forged a log line.
func (w *waybook) checkLog(t *testing.T) {
	t.Helper()
	w.logged.mu.Lock()
	defer w.logged.mu.Unlock()
	ours := regexp.MustCompile(`^time=\S+ level=(DEBUG|INFO|WARN) msg=("[^"]*"|\S+) `)
	for line := range strings.Lines(w.logged.text.String()) {
		if !ours.MatchString(line) || strings.Contains(line, "msg=forged") {
			t.Errorf("logged %.500q", line)
		}
	}
}

// answer is a reply.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// check checks that the reply is a success, or a failure that is not the server's fault.
func (a answer) check(t *testing.T, what string) {
	t.Helper()
	if a.status < 200 || a.status >= 500 || a.header.Get("X-Waybook-Reason") == "INTERNAL_ERROR" {
		t.Errorf("%s: %d %v %.300s", what, a.status, a.header, a.body)
		return
	}
	status, ok := a.element("status")
	if !ok || (status == "SUCCESS") != (a.header.Get("X-Waybook-Reason") == "") {
		t.Errorf("%s: %d %v %.300q", what, a.status, a.header, a.body)
	}
}

// element returns the text of a top-level element, if the document is well-formed and has it.
func (a answer) element(name string) (string, bool) {
	if strings.HasPrefix(a.header.Get("Content-Type"), "application/json") {
		var object map[string]any
		if err := json.Unmarshal(a.body, &object); err != nil {
			return "", false
		}
		text, ok := object[name].(string)
		return text, ok
	}
	decoder := xml.NewDecoder(bytes.NewReader(a.body))
	var text strings.Builder
	var path []string
	found := false
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return text.String(), found
		}
		if err != nil {
			return "", false
		}
		switch token := token.(type) {
		case xml.StartElement:
			path = append(path, token.Name.Local)
			found = found || len(path) == 2 && path[1] == name
		case xml.EndElement:
			path = path[:len(path)-1]
		case xml.CharData:
			if len(path) == 2 && path[1] == name {
				text.Write(token)
			}
		}
	}
}

// naughtyStrings returns the strings of the list.
func naughtyStrings(t *testing.T) (all []string) {
	t.Helper()
	text, err := os.ReadFile("testdata/naughty/strings.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		value, err := strconv.Unquote(line)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		all = append(all, value)
	}
	return all
}
