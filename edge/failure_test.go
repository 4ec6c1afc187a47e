package edge

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

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
		logged       bool
	}{
		{name: "an album that is not there", err: refusedFor(codes.NotFound, "ALBUM_NOT_FOUND"), reason: "ALBUM_NOT_FOUND", info: "ALBUM NOT FOUND"},
		{name: "somebody else's", err: refusedFor(codes.PermissionDenied, "NOT_OWNER"), reason: "NOT_OWNER", info: "NOT OWNER"},
		{name: "a quoted blog that is not there", err: refusedFor(codes.InvalidArgument, "QUOTED_BLOG_NOT_FOUND"), reason: "QUOTED_BLOG_NOT_FOUND", info: "INVALID PARAMETER: replyBlogID (no such blog)"},
		{name: "a field that a parameter feeds", err: violation("location.lat"), reason: "INVALID_PARAMETER", info: "INVALID PARAMETER: lat (from -90 to 90)"},
		{name: "a field that no parameter feeds", err: violation("actor_id"), reason: "INTERNAL_ERROR", info: "INTERNAL ERROR", logged: true},
		{name: "a reason that is not known here", err: refusedFor(codes.NotFound, "SECRET_NOT_FOUND"), reason: "NOT_FOUND", info: "NOT FOUND"},
		{name: "a repeated create of what was deleted", err: refusedFor(codes.NotFound, "GONE"), reason: "NOT_FOUND", info: "NOT FOUND"},
		{name: "a known reason in another domain", err: statusWith(codes.NotFound, &errdetails.ErrorInfo{Reason: "ALBUM_NOT_FOUND", Domain: "elsewhere"}), reason: "NOT_FOUND", info: "NOT FOUND"},
		{name: "a conflict", err: refusedFor(codes.Aborted, "CONFLICT"), reason: "CONFLICT", info: "CONFLICT"},
		{name: "no right to call at all", err: status.Error(codes.PermissionDenied, "private text"), reason: "INTERNAL_ERROR", info: "INTERNAL ERROR", logged: true},
		{name: "no identity to call with", err: status.Error(codes.Unauthenticated, "private text"), reason: "INTERNAL_ERROR", info: "INTERNAL ERROR", logged: true},
		{name: "a fault of the service", err: status.Error(codes.Internal, "private text"), reason: "INTERNAL_ERROR", info: "INTERNAL ERROR", logged: true},
		{name: "an unavailable service", err: status.Error(codes.Unavailable, "private text"), status: 503, reason: "SERVICE_UNAVAILABLE", info: "SERVICE UNAVAILABLE"},
		{name: "a slow service", err: status.Error(codes.DeadlineExceeded, "private text"), status: 503, reason: "SERVICE_TIMEOUT", info: "SERVICE TIMEOUT"},
		{name: "a service that stops", err: status.Error(codes.Canceled, "private text"), status: 503, reason: "SERVICE_UNAVAILABLE", info: "SERVICE UNAVAILABLE"},
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
			if retry := w.Header().Get("Retry-After") != ""; retry != (c.status != 0) {
				t.Errorf("Retry-After: %v", retry)
			}
			if logged := strings.Count(log.String(), "private text"); logged != map[bool]int{true: 1}[c.logged] {
				t.Errorf("logged %d times: %s", logged, &log)
			}
		})
	}
}
