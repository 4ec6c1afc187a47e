package edge

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/waybook/waybook/edge/operation"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
)

const loginForm = "func=login&email=amy%40example.org&password=correct+horse"

// letIn is an account service that accepts every password.
func letIn(_ context.Context, request proto.Message) (proto.Message, error) {
	switch request.(type) {
	case *accountv1.AuthenticateRequest:
		return &accountv1.AuthenticateResponse{
			User:  &accountv1.User{UserId: demoUser},
			Token: demoToken, Session: &accountv1.Session{ExpireTime: timestamppb.New(time.Now().Add(time.Hour))},
		}, nil
	}
	return &accountv1.CloseSessionResponse{}, nil
}

// cookieless returns a POST of a form without a cookie.
func cookieless(form string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, Path, strings.NewReader(form))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return r
}

func TestTheCookieIsSecureWhenTheRequestUsedTLS(t *testing.T) {
	h := newEdge(t, &fakes{answer: letIn}, func(c *Config) { c.TrustedProxies = proxies(t, "192.0.2.0/24") })
	for _, form := range []string{loginForm, "func=logout"} {
		for proto, want := range map[string]bool{"https": true, "http": false} {
			r := cookieless(form)
			r.Header.Set("X-Forwarded-Proto", proto)
			for _, cookie := range record(h, r).Result().Cookies() {
				if cookie.Secure != want {
					t.Errorf("%s by %s: %s", form, proto, cookie)
				}
			}
		}
	}
}

func TestTheCookieIsAlwaysSecureIfTheSettingSaysSo(t *testing.T) {
	var always CookieSecure
	if err := always.Set("always"); err != nil || always.String() != "always" {
		t.Fatalf("%v, %v", always, err)
	}
	h := newEdge(t, &fakes{answer: letIn}, func(c *Config) { c.CookieSecure = always })
	for _, form := range []string{loginForm, "func=logout"} {
		cookies := record(h, cookieless(form)).Result().Cookies()
		if len(cookies) < 2 || slices.ContainsFunc(cookies, func(c *http.Cookie) bool { return !c.Secure }) {
			t.Errorf("%s: %v", form, cookies)
		}
	}
	if err := always.Set("never"); err == nil || always != SecureAlways {
		t.Errorf("never was accepted: %v, %v", always, err)
	}
	if err := always.Set("auto"); err != nil || always != SecureOverTLS {
		t.Errorf("auto became %v, %v", always, err)
	}
}

func TestAFailedLoginSetsNoCookieAndDoesNotLogThePassword(t *testing.T) {
	tooMany, err := status.New(codes.ResourceExhausted, "private text").WithDetails(
		&errdetails.ErrorInfo{Reason: "TOO_MANY_ATTEMPTS", Domain: operation.ReasonDomain},
		&errdetails.RetryInfo{RetryDelay: durationpb.New(90*time.Second + time.Millisecond)})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name             string
		err              error
		status           int
		info, retryAfter string
	}{
		{"a wrong password", refusedFor(codes.Unauthenticated, "PASSWORD_INCORRECT"), 200, "PASSWORD INCORRECT", ""},
		{"too many attempts", tooMany.Err(), 429, "TOO MANY ATTEMPTS", "91"},
		{"too many attempts, no matter when", refusedFor(codes.ResourceExhausted, "TOO_MANY_ATTEMPTS"), 429, "TOO MANY ATTEMPTS", "1"},
		{"an unavailable service", status.Error(codes.Unavailable, "gone"), 503, "SERVICE UNAVAILABLE", "1"},
		{"a service without passwords", status.Error(codes.Unimplemented, "what?"), 200, "INTERNAL ERROR", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var log bytes.Buffer
			h := newEdge(t, &fakes{answer: always(nil, c.err)}, func(config *Config) {
				config.Log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
			})
			w := record(h, cookieless(loginForm))
			if w.Code != c.status || w.Body.String() != failed(c.info) {
				t.Errorf("got %d %s", w.Code, w.Body)
			}
			if got := w.Header().Get("X-Waybook-Reason"); got != strings.ReplaceAll(c.info, " ", "_") {
				t.Errorf("reason %s", got)
			}
			if got := w.Header().Get("Retry-After"); got != c.retryAfter {
				t.Errorf("Retry-After %q, want %q", got, c.retryAfter)
			}
			if got := w.Header()["Set-Cookie"]; got != nil {
				t.Errorf("got the cookies %s", got)
			}
			if strings.Contains(log.String(), "horse") {
				t.Errorf("logged %s", &log)
			}
		})
	}
}

func TestAFailedLogoutKeepsTheCookie(t *testing.T) {
	h := newEdge(t, &fakes{answer: always(nil, status.Error(codes.Unavailable, "gone"))})
	w := post(h, "func=logout")
	if w.Code != 503 || w.Header()["Set-Cookie"] != nil {
		t.Errorf("got %d, cookies %s", w.Code, w.Header()["Set-Cookie"])
	}
}

func TestThereIsNoLoginWhereSessionsAreOpenedElsewhere(t *testing.T) {
	f := &fakes{answer: letIn}
	h := newEdge(t, f, func(c *Config) { c.Sessions = operation.OpenedElsewhere })
	for _, form := range []string{loginForm, "func=logout", "func=LOGIN"} {
		w := post(h, form)
		if want := failed(unknownFunc("login", "logout", "register", "changePassword")); w.Body.String() != want {
			t.Errorf("%s: got %s", form, w.Body)
		}
	}
	if got := f.called(); got != nil {
		t.Errorf("called %v", got)
	}
}
