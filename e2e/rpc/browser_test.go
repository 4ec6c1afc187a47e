package rpc_test

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/waybook/waybook/edge"
	"github.com/waybook/waybook/internal/waybooktest"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
)

// browser sends forms to an edge in front of the services, and keeps cookies.
type browser struct {
	*waybooktest.Client
	t *testing.T
}

// newBrowser returns a browser with an address of its own. The edge calls this account service.
func (w *waybook) newBrowser(t *testing.T, account accountv1.AccountServiceClient, address string) *browser {
	return browserOf(t, w.EdgeWith(func(c *edge.Config) { c.Account = account }), address)
}

func browserOf(t *testing.T, edge http.Handler, address string) *browser {
	b := &browser{waybooktest.ClientOf(t, edge), t}
	b.Address = address
	return b
}

// send sends a form and returns the stable reason of a failure, or "" for a success.
func (b *browser) send(form url.Values) (reason string) {
	b.t.Helper()
	reply := b.Post(form.Encode())
	if reason = reply.Reason(); reply.Succeeded() != (reason == "") {
		b.t.Errorf("reason %q with %s", reason, reply.Body)
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
