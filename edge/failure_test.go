package edge

import (
	"bytes"
	"fmt"
	"log/slog"
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
		// level is that of the one line of the log; none when empty.
		level string
	}{
		{name: "a field that no parameter feeds", err: violation("actor_id"), reason: "INTERNAL_ERROR", info: "INTERNAL ERROR", level: "ERROR"},
		{name: "a reason that is not for clients", err: refusedFor(codes.FailedPrecondition, "IDENTIFIERS_USED_UP"), reason: "INTERNAL_ERROR", info: "INTERNAL ERROR", level: "ERROR"},
		{name: "a known reason in another domain", err: statusWith(codes.NotFound, &errdetails.ErrorInfo{Reason: "ALBUM_NOT_FOUND", Domain: "elsewhere"}), reason: "INTERNAL_ERROR", info: "INTERNAL ERROR", level: "ERROR"},
		{name: "a conflict", err: refusedFor(codes.Aborted, "CONFLICT"), reason: "CONFLICT", info: "CONFLICT"},
		{name: "no right to call at all", err: status.Error(codes.PermissionDenied, "private text"), reason: "INTERNAL_ERROR", info: "INTERNAL ERROR", level: "ERROR"},
		{name: "no identity to call with", err: status.Error(codes.Unauthenticated, "private text"), reason: "INTERNAL_ERROR", info: "INTERNAL ERROR", level: "ERROR"},
		{name: "a fault of the service", err: status.Error(codes.Internal, "private text"), reason: "INTERNAL_ERROR", info: "INTERNAL ERROR", level: "ERROR"},
		{name: "an unavailable service", err: status.Error(codes.Unavailable, "private text"), status: 503, reason: "SERVICE_UNAVAILABLE", info: "SERVICE UNAVAILABLE", level: "WARN"},
		{name: "a slow service", err: status.Error(codes.DeadlineExceeded, "private text"), status: 503, reason: "SERVICE_TIMEOUT", info: "SERVICE TIMEOUT", level: "WARN"},
		{name: "a service that stops", err: status.Error(codes.Canceled, "private text"), status: 503, reason: "SERVICE_UNAVAILABLE", info: "SERVICE UNAVAILABLE", level: "WARN"},
		{name: "a busy service", err: refusedFor(codes.ResourceExhausted, "SERVICE_BUSY"), status: 503, reason: "SERVICE_BUSY", info: "SERVICE BUSY", level: "WARN"},
		{name: "too many requests", err: status.Error(codes.ResourceExhausted, "private text"), status: 429, reason: "TOO_MANY_REQUESTS", info: "TOO MANY REQUESTS"},
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
			if lines := log.String(); strings.Count(lines, "\n") != min(len(c.level), 1) || !strings.Contains(lines, c.level) {
				t.Errorf("logged %s", lines)
			}
		})
	}
}

func TestWarningsAboutTemporaryFailuresAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		h := newEdge(t, &fakes{answer: always(nil, status.Error(codes.Unavailable, "gone"))}, func(config *Config) {
			config.Log = slog.New(slog.NewTextHandler(&log, nil))
		})
		for range 3 * warningsPerSecond {
			post(h, addAlbumForm)
		}
		if lines := strings.Count(log.String(), "\n"); lines != warningsPerSecond {
			t.Errorf("%d lines in a moment", lines)
		}
		log.Reset()
		time.Sleep(time.Second)
		if post(h, addAlbumForm); !strings.Contains(log.String(), fmt.Sprint("left_out=", 2*warningsPerSecond)) {
			t.Errorf("the next line is %s", &log)
		}
	})
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
