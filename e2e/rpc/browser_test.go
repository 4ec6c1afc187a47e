package rpc_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/waybook/waybook/edge"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
)

// browser sends forms to an edge in front of the services, and keeps cookies.
type browser struct {
	t       *testing.T
	edge    http.Handler
	address string
	cookies map[string]string
}

// newBrowser returns a browser with an address of its own. The edge calls this account service.
func (w *waybook) newBrowser(t *testing.T, account accountv1.AccountServiceClient, address string) *browser {
	return &browser{t: t, address: address, cookies: map[string]string{}, edge: edge.New(edge.Config{
		Account: account, Album: w.album, Blog: w.blog, Poi: w.poi, Zone: time.UTC,
	})}
}

// send sends a form and returns the stable reason of a failure, or "" for a success.
func (b *browser) send(form url.Values) (reason string) {
	b.t.Helper()
	r := httptest.NewRequestWithContext(b.t.Context(), http.MethodPost, edge.Path, strings.NewReader(form.Encode()))
	r.RemoteAddr = b.address + ":1234"
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	for name, value := range b.cookies {
		r.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	w := httptest.NewRecorder()
	b.edge.ServeHTTP(w, r)
	for _, cookie := range w.Result().Cookies() {
		// The clock of the services is not that of the edge, so it says nothing when a cookie ends.
		b.cookies[cookie.Name] = cookie.Value
	}
	reason = w.Header().Get("X-Waybook-Reason")
	if isSuccess := strings.Contains(w.Body.String(), "<status>SUCCESS</status>"); isSuccess != (reason == "") {
		b.t.Errorf("reason %q with %s", reason, w.Body)
	}
	return reason
}

func (b *browser) logIn(email, password string) (reason string) {
	b.t.Helper()
	return b.send(url.Values{"func": {"login"}, "email": {email}, "password": {password}})
}

// expectLogin logs in and expects a reason; "" is a success.
func (b *browser) expectLogin(when, email, password, want string) {
	b.t.Helper()
	if got := b.logIn(email, password); got != want {
		b.t.Errorf("%s: a login of %s gets %q, want %q", when, email, got, want)
	}
}

// isLoggedIn reports whether the edge accepts a write with the browser's cookies.
func (b *browser) isLoggedIn() bool {
	b.t.Helper()
	return b.send(url.Values{"func": {"updateAlbum"}}) != "LOGIN_REQUIRED"
}
