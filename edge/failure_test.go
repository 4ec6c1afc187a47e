package edge

import (
	"bytes"
	"flag"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/waybook/waybook/edge/form"
	"github.com/waybook/waybook/edge/operation"
	"github.com/waybook/waybook/internal/clients"
)

func TestServiceErrorsBecomeLegacyFailures(t *testing.T) {
	violation := func(field string) error {
		return statusWith(codes.InvalidArgument, &errdetails.BadRequest{
			FieldViolations: []*errdetails.BadRequest_FieldViolation{{Field: field, Description: "private text"}},
		})
	}
	for _, c := range []struct {
		name         string
		err          error
		status       int
		reason, info string
		// level is that of the one line of the log.
		level string
	}{
		{name: "a field that no parameter feeds", err: violation("actor_id"), reason: "INTERNAL_ERROR", info: "INTERNAL ERROR", level: "ERROR"},
		{name: "a reason that is not for clients", err: refusedFor(codes.FailedPrecondition, "IDENTIFIERS_USED_UP"), reason: "INTERNAL_ERROR", info: "INTERNAL ERROR", level: "ERROR"},
		{name: "a known reason in another domain", err: statusWith(codes.NotFound, &errdetails.ErrorInfo{Reason: "ALBUM_NOT_FOUND", Domain: "elsewhere"}), reason: "INTERNAL_ERROR", info: "INTERNAL ERROR", level: "ERROR"},
		{name: "a conflict", err: refusedFor(codes.Aborted, "CONFLICT"), reason: "CONFLICT", info: "CONFLICT", level: "INFO"},
		{name: "no right to call at all", err: status.Error(codes.PermissionDenied, "private text"), reason: "INTERNAL_ERROR", info: "INTERNAL ERROR", level: "ERROR"},
		{name: "no identity to call with", err: status.Error(codes.Unauthenticated, "private text"), reason: "INTERNAL_ERROR", info: "INTERNAL ERROR", level: "ERROR"},
		{name: "a fault of the service", err: status.Error(codes.Internal, "private text"), reason: "INTERNAL_ERROR", info: "INTERNAL ERROR", level: "ERROR"},
		{name: "an unavailable service", err: status.Error(codes.Unavailable, "private text"), status: 503, reason: "SERVICE_UNAVAILABLE", info: "SERVICE UNAVAILABLE", level: "WARN"},
		{name: "a slow service", err: status.Error(codes.DeadlineExceeded, "private text"), status: 503, reason: "SERVICE_TIMEOUT", info: "SERVICE TIMEOUT", level: "WARN"},
		{name: "a service that stops", err: status.Error(codes.Canceled, "private text"), status: 503, reason: "SERVICE_UNAVAILABLE", info: "SERVICE UNAVAILABLE", level: "WARN"},
		{name: "a busy service", err: refusedFor(codes.ResourceExhausted, "SERVICE_BUSY"), status: 503, reason: "SERVICE_BUSY", info: "SERVICE BUSY", level: "WARN"},
		{name: "too many requests", err: status.Error(codes.ResourceExhausted, "private text"), status: 429, reason: "TOO_MANY_REQUESTS", info: "TOO MANY REQUESTS", level: "INFO"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var log bytes.Buffer
			h := newEdge(t, &fakes{answer: always(nil, c.err)}, func(config *Config) {
				config.Log = slog.New(slog.NewTextHandler(&log, nil))
			})
			w := post(h, addAlbumForm)
			if want := max(c.status, 200); w.Code != want {
				t.Errorf("status %d, want %d", w.Code, want)
			}
			if got := w.Header().Get("X-Waybook-Reason"); got != c.reason {
				t.Errorf("reason %q, want %q", got, c.reason)
			}
			if got := w.Body.String(); got != failed(c.info) {
				t.Errorf("got %s", got)
			}
			if got := w.Header().Get("Retry-After"); got != map[bool]string{true: "1"}[c.status != 0] {
				t.Errorf("Retry-After: %q", got)
			}
			code := status.Code(c.err)
			want := fmt.Sprintf("level=%s msg=\"request failed\" func=addAlbum service=waybook.album.v1.AlbumService method=CreateAlbum code=%s "+
				"status=%d reason=%s user_id=%d client_address=192.0.2.1", c.level, code, w.Code, c.reason, demoUser)
			line := log.String()
			if strings.Count(line, "\n") != 1 || !strings.Contains(line, want) || strings.Contains(line, "private text") != (c.level != "INFO") {
				t.Errorf("logged %s, want %s", line, want)
			}
		})
	}
}

// lines counts the lines of a log, with the failures that it left out.
type lines struct {
	bytes.Buffer
	leftOut int
}

// edge returns an edge that logs to l from a level on.
func (l *lines) edge(t *testing.T, answered error, level slog.Level) http.Handler {
	return newEdge(t, &fakes{answer: always(nil, answered)}, func(config *Config) {
		config.Log = slog.New(slog.NewTextHandler(l, &slog.HandlerOptions{Level: level}))
		config.Observe = func(_ *http.Request, a Answer) {
			if a.IsLeftOut {
				l.leftOut++
			}
		}
	})
}

func (l *lines) count() int { return strings.Count(l.String(), "\n") }

func TestTheLinesAboutFailuresOfAnAddressAreLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l lines
		h := l.edge(t, nil, slog.LevelInfo)
		for range 60 {
			time.Sleep(time.Second)
			for range 2 * failuresPerSecond {
				record(h, from("192.0.2.1:80"))
			}
		}
		if n := l.count(); n < addressFailuresPerMinute-1 || n > addressFailuresPerMinute {
			t.Errorf("%d lines in a minute", n)
		}
		// Another address is logged all the same, with those that were left out since the last line.
		failures := l.count() + l.leftOut
		l.Reset()
		record(h, from("192.0.2.2:80"))
		if _, leftOut, _ := strings.Cut(strings.TrimSpace(l.String()), "left_out="); failures != 120*failuresPerSecond || l.count() != 1 || leftOut == "" || leftOut == "0" {
			t.Errorf("after %d failures, the next line is %s", failures, &l.Buffer)
		}
		record(h, from("192.0.2.2:80"))
		if strings.Count(l.String(), "left_out") != 1 {
			t.Errorf("they are counted twice: %s", &l.Buffer)
		}
	})
}

func TestTheLinesAboutFailuresAreLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l lines
		h := l.edge(t, status.Error(codes.Internal, "private text"), slog.LevelInfo)
		for n := range 1000 {
			record(h, from(fmt.Sprintf("192.0.%d.%d:80", n/250, n%250)))
			time.Sleep(time.Millisecond)
		}
		if n := l.count(); n < failuresPerSecond-2 || n > failuresPerSecond || n+l.leftOut != 1000 {
			t.Errorf("%d lines in a second, %d failures left out", n, l.leftOut)
		}
		// A failure with a private cause has a line all the same.
		l.Reset()
		for range 2 * failuresPerSecond {
			post(h, addAlbumForm)
		}
		if n := strings.Count(l.String(), "level=ERROR"); n != 2*failuresPerSecond {
			t.Errorf("%d lines about internal failures", n)
		}
	})
}

func TestALineBelowTheLevelOfTheLogTakesNoneFromOthers(t *testing.T) {
	var l lines
	h := l.edge(t, status.Error(codes.Unavailable, "gone"), slog.LevelWarn)
	for range 2 * addressFailuresPerMinute {
		post(h, "")
	}
	if post(h, addAlbumForm); l.leftOut != 0 || l.count() != 1 || strings.Contains(l.String(), "left_out") {
		t.Errorf("%d failures were left out, and logged is %s", l.leftOut, &l.Buffer)
	}
}

func TestACommentBeyondALimitSaysWhatToDo(t *testing.T) {
	for reason, want := range map[string]struct {
		status     int
		retryAfter string
	}{"TOO_MANY_COMMENTS": {429, "1"}, "COMMENT_LIMIT_REACHED": {200, ""}} {
		w := post(newEdge(t, &fakes{answer: always(nil, refusedFor(codes.ResourceExhausted, reason))}), "func=addComment&albumID=1&comment=c")
		if w.Code != want.status || w.Header().Get("Retry-After") != want.retryAfter || w.Body.String() != failed(strings.ReplaceAll(reason, "_", " ")) {
			t.Errorf("%s: got %d, %v: %s", reason, w.Code, w.Header(), w.Body)
		}
	}
}

var update = flag.Bool("update", false, "rewrite the table of docs/failures.md")

const (
	failuresPage = "../docs/failures.md"
	// The table is between these lines.
	failuresBegin = "<!-- begin of the table of failures: go test ./edge -run TableOfFailures -update -->\n"
	failuresEnd   = "<!-- end of the table of failures -->\n"
)

func TestTheTableOfFailuresIsCurrent(t *testing.T) {
	page, err := os.ReadFile(failuresPage)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, hasBegin := strings.Cut(string(page), failuresBegin)
	shown, after, hasEnd := strings.Cut(rest, failuresEnd)
	if !hasBegin || !hasEnd {
		t.Fatalf("%s lacks the lines\n%s%s", failuresPage, failuresBegin, failuresEnd)
	}
	want := "\n" + tableOfFailures() + "\n"
	if *update {
		if err := os.WriteFile(failuresPage, []byte(before+failuresBegin+want+failuresEnd+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if shown != want {
		t.Errorf("the table in %s is stale: run go test ./edge -run TableOfFailures -update", failuresPage)
	}
}

func tableOfFailures() string {
	var b strings.Builder
	b.WriteString("| `info` | reason | when | what to do |\n| --- | --- | --- | --- |\n")
	for _, each := range Failures() {
		status := ""
		if each.Status != http.StatusOK {
			status = fmt.Sprintf("HTTP %d: ", each.Status)
		}
		fmt.Fprintf(&b, "| `%s` | `%s` | %s%s | %s |\n", each.Info, each.Reason, status, each.Meaning, each.Action)
	}
	return b.String()
}

// A reason that the edge can send is a literal of its source.
func TestEveryReasonOfTheEdgeIsInTheTable(t *testing.T) {
	notSent := map[string]bool{"CLIENT_GONE": true} // nobody is left to read it
	literal := regexp.MustCompile(`"([A-Z]+(?:_[A-Z]+)+)"`)
	found := map[string]bool{}
	err := filepath.WalkDir(".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") || path == "failures.go" {
			return err
		}
		source, err := os.ReadFile(path)
		for _, match := range literal.FindAllSubmatch(source, -1) {
			found[string(match[1])] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(found) < 35 {
		t.Errorf("found only %d reasons", len(found))
	}
	for reason := range found {
		isEntry := func(each FailureEntry) bool { return each.Reason == reason }
		if !notSent[reason] && !slices.ContainsFunc(Failures(), isEntry) {
			t.Errorf("%s is not in the table", reason)
		}
	}
	for _, each := range Failures() {
		if !found[each.Reason] && each.Reason != "CONFLICT" {
			t.Errorf("the edge never sends %s", each.Reason)
		}
		if each.Meaning == "" || each.Action == "" || !strings.Contains(each.Info, " ") && each.Reason != "CONFLICT" {
			t.Errorf("%s is not explained", each.Reason)
		}
	}
}

// docs/grpc.md lists the reasons of the services.
func TestAReasonOfAServiceIsInTheTableOrAnInternalError(t *testing.T) {
	page, err := os.ReadFile("../docs/grpc.md")
	if err != nil {
		t.Fatal(err)
	}
	var code codes.Code
	var internal []string
	for _, row := range regexp.MustCompile("(?m)^\\| (?:`([A-Z_]+)` )?\\| (`[A-Z_]+`.*?) \\|").FindAllSubmatch(page, -1) {
		if name := row[1]; name != nil {
			if err := code.UnmarshalJSON(fmt.Appendf(nil, "%q", name)); err != nil {
				t.Fatal(err)
			}
		}
		for _, reason := range regexp.MustCompile("[A-Z_]+").FindAllString(string(row[2]), -1) {
			shown := operation.FailureOf(refusedFor(code, reason), &form.Reader{}).Reason
			if !slices.ContainsFunc(Failures(), func(entry FailureEntry) bool { return entry.Reason == shown }) {
				t.Errorf("%s becomes %s, which is not in the table", reason, shown)
			}
			if shown == "INTERNAL_ERROR" {
				internal = append(internal, reason)
			}
		}
	}
	// INVALID_PARAMETER comes with the fields, which parameters feed. No operation causes the others but GONE, whose
	// repetition is the edge's own, and IDENTIFIERS_USED_UP.
	want := []string{
		"CLIENT_NOT_ALLOWED", "EMAIL_REQUIRED", "ETAG_MISMATCH",
		"GONE", "IDENTIFIERS_USED_UP", "INTERNAL", "INVALID_PARAMETER", "INVITATIONS_OFF", "METHOD_UNKNOWN",
		"SERVICE_UNKNOWN", "SESSION_NOT_FOUND", "START_ANEW", "STORE_NOT_EMBEDDED", "USER_NOT_DISABLED",
	}
	if slices.Sort(internal); !slices.Equal(internal, want) {
		t.Errorf("clients do not get %q", internal)
	}
}

func TestAPanicIsLoggedWithoutRequestData(t *testing.T) {
	var log bytes.Buffer
	h := New(Config{
		// The clients have no connections, so every call panics on nil.
		Clients: clients.Of(nil, nil, nil, nil),
		Zone:    time.UTC, Log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
	r := httptest.NewRequest(http.MethodPost, Path, strings.NewReader("func=addAlbum&albumTitle=s3cr3t&category=1&lat=1&lng=2"))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Cookie", demoCookie)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if n := strings.Count(log.String(), "request failed"); w.Code != http.StatusOK || n != 1 {
		t.Errorf("status %d, logged %d times", w.Code, n)
	}
	if !strings.Contains(w.Body.String(), "INTERNAL ERROR") || !strings.Contains(log.String(), "panic:") || !strings.Contains(log.String(), "session.go") {
		t.Errorf("replied %s and logged %s", w.Body, log.String())
	}
	for _, secret := range []string{"s3cr3t", demoToken} {
		if strings.Contains(log.String()+w.Body.String(), secret) {
			t.Errorf("the log contains %s: %s", secret, log.String())
		}
	}
}
