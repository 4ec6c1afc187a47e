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
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
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

// adopting is an edge with a console.
func adopting(t *testing.T, changes ...func(*Config)) http.Handler {
	return newEdge(t, &fakes{}, append(changes, func(c *Config) { c.HasConsole = true })...)
}

// adopt returns a POST of a form to SessionPath.
func adopt(form string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, SessionPath, strings.NewReader(form))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return r
}

const pasted = "id=7&idrand=" + demoToken

func TestAPastedSessionBecomesTheCookieOfALogin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // for a clock that does not advance
		w := record(adopting(t), adopt(pasted))
		if want := `{"status":"SUCCESS"}`; w.Body.String() != want {
			t.Errorf("got %s", w.Body)
		}
		expires := time.Now().Add(demoSessionTime).UTC().Format(cookieDate)
		if diff := cmp.Diff([]string{
			"id=7; Path=/; Max-Age=5400; HttpOnly; SameSite=Lax; Expires=" + expires,
			"idrand=" + demoToken + "; Path=/; Max-Age=5400; HttpOnly; SameSite=Lax; Expires=" + expires,
		}, w.Header()["Set-Cookie"]); diff != "" {
			t.Error(diff)
		}
		if got := w.Header().Get("Cache-Control"); got != "no-store" {
			t.Errorf("Cache-Control: %s", got)
		}
	})
}

func TestAPastedSessionThatIsNotOpenSetsNoCookie(t *testing.T) {
	for form, reason := range map[string]string{
		"id=8&idrand=" + demoToken:                   "LOGIN_REQUIRED",
		"id=7&idrand=" + strings.Repeat("0", 32):     "LOGIN_REQUIRED",
		"id=7&idrand=":                               "INVALID_PARAMETER",
		"id=&idrand=" + demoToken:                    "INVALID_PARAMETER",
		"id=0&idrand=" + demoToken:                   "INVALID_PARAMETER",
		"id=-7&idrand=" + demoToken:                  "INVALID_PARAMETER",
		"id=9007199254740992&idrand=" + demoToken:    "INVALID_PARAMETER",
		"id=7&idrand=" + strings.ToUpper(demoToken):  "INVALID_PARAMETER",
		"id=7%0D%0ASet-Cookie:x&idrand=" + demoToken: "INVALID_PARAMETER",
		"idrand=" + demoToken:                        "MISSING_PARAMETER",
		"":                                           "MISSING_PARAMETER",
	} {
		w := record(adopting(t), adopt(form))
		if got := w.Header().Get("X-Waybook-Reason"); got != reason || len(w.Header()["Set-Cookie"]) > 0 {
			t.Errorf("%s: got %s and the cookies %s", form, got, w.Header()["Set-Cookie"])
		}
	}
}

func TestASessionIsPastedOnlyInTheBodyOfAPostOfTheOwnSite(t *testing.T) {
	inQuery := adopt("")
	inQuery.URL.RawQuery = pasted
	byOther := adopt(pasted)
	byOther.Header.Set("Sec-Fetch-Site", "cross-site")
	byNull := adopt(pasted)
	byNull.Header.Set("Origin", "null")
	byPut := adopt(pasted)
	byPut.Method = http.MethodPut
	for reason, requests := range map[string][]*http.Request{
		"INVALID_PARAMETER":  {inQuery},
		"CROSS_SITE_REQUEST": {byOther, byNull},
		"METHOD_NOT_ALLOWED": {byPut},
	} {
		for _, request := range requests {
			w := record(adopting(t), request)
			if got := w.Header().Get("X-Waybook-Reason"); got != reason || len(w.Header()["Set-Cookie"]) > 0 {
				t.Errorf("got %s, want %s; cookies %s", got, reason, w.Header()["Set-Cookie"])
			}
		}
	}
}

func TestThePastingOfSessionsIsLimitedAsRequestsAre(t *testing.T) {
	var reasons []string
	h := adopting(t, func(c *Config) {
		c.Load = newLoad(&Flags{ClientRate: 0.1})
		c.Observe = func(_ *http.Request, a Answer) { reasons = append(reasons, a.Function+" "+a.Reason) }
	})
	record(h, adopt(pasted))
	record(h, adopt(pasted))
	if diff := cmp.Diff([]string{SessionPath + " ", " TOO_MANY_REQUESTS"}, reasons); diff != "" {
		t.Error(diff)
	}
}

func TestThePageLearnsWhoseSessionTheCookieNames(t *testing.T) {
	for cookie, want := range map[string]string{
		demoCookie:                  `{"status":"SUCCESS","id":7}`,
		"":                          `{"status":"SUCCESS","registration":"invite"}`,
		"id=8; idrand=" + demoToken: `{"status":"SUCCESS","registration":"invite"}`,
	} {
		r := httptest.NewRequest(http.MethodGet, SessionPath+"?"+pasted, nil)
		r.Header.Set("Cookie", cookie)
		w := record(adopting(t), r)
		if w.Body.String() != want || len(w.Header()["Set-Cookie"]) > 0 || w.Header().Get("Content-Type") != "application/json; charset=utf-8" {
			t.Errorf("with the cookie %q: got %s, cookies %s", cookie, w.Body, w.Header()["Set-Cookie"])
		}
	}
}
