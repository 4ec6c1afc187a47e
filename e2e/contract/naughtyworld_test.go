package contract

import (
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"strings"
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
	logged            *diary
}

func start(t *testing.T) *waybook {
	t.Helper()
	logged := &diary{}
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
		found := regexp.MustCompile("<" + each.name + `>(\d+)<`).FindStringSubmatch(made.body)
		if found == nil {
			t.Fatalf("%s: %s", each.form, made.body)
		}
		*each.id = found[1]
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
func (w *waybook) post(form, cookie string) answered {
	w.t.Helper()
	r := w.newRequest(http.MethodPost, form)
	if cookie != "" {
		r.Header.Set("Cookie", cookie)
	}
	return w.send(r)
}

func (w *waybook) send(r *http.Request) answered {
	w.t.Helper()
	reply := w.client.Send(r)
	return answered{reply.Code, reply.Header, reply.Body}
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

// check checks that the reply is a success, or a failure that is not the server's fault.
func (a answered) check(t *testing.T, what string) {
	t.Helper()
	reason := a.header.Get(reasonHeader)
	hasSucceeded := strings.Contains(a.body, "<status>SUCCESS</status>") || strings.HasPrefix(a.body, `{"status":"SUCCESS"`)
	if err := wellFormed(a); err != nil || a.status < 200 || a.status >= 500 || reason == "INTERNAL_ERROR" || hasSucceeded != (reason == "") {
		t.Errorf("%s: %d %v %.300q, %v", what, a.status, a.header, a.body, err)
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
