package edge

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
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
