package access

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"testing"

	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/peer"

	"github.com/waybook/waybook/internal/platform/apierror"
)

// showing returns the context of a call whose client has shown a certificate with some names.
func showing(t *testing.T, names ...string) context.Context {
	t.Helper()
	verified := [][]*x509.Certificate{{{DNSNames: names}}}
	return peer.NewContext(t.Context(), &peer.Peer{AuthInfo: credentials.TLSInfo{State: tls.ConnectionState{VerifiedChains: verified}}})
}

const (
	method     = "/waybook.album.v1.AlbumService/GetAlbum"
	undeclared = "/waybook.album.v1.AlbumService/Forgotten"
)

func newPolicy(clients ...grant) *Policy {
	return NewPolicy(Rules{
		{Method: method, IsDeclared: true, Callers: []string{"blog", "edge"}}, {Method: undeclared},
	}, clients)
}

func TestAMethodWithoutTheOptionIsTheOperators(t *testing.T) {
	for _, called := range []string{undeclared, "/grpc.health.v1.Health/Check", ""} {
		for name, may := range map[string]bool{"edge": false, "blog": false, "": false, Operator: true} {
			if _, err := newPolicy().Admit(showing(t, name), called); (err == nil) != may {
				t.Errorf("%q calls %q: %v", name, called, err)
			}
		}
	}
}

func TestTheCallerIsTheNameThatPermitsTheCall(t *testing.T) {
	policy := newPolicy(grant{"gateway", "edge"}, grant{"sre", Operator}, grant{"reports", method})
	for _, c := range []struct {
		names  []string
		want   Caller
		isSeen bool
	}{
		{[]string{"edge.waybook.svc", "edge"}, Caller{Name: "edge"}, true},
		{[]string{"gateway"}, Caller{Name: "gateway"}, true},
		{[]string{"reports"}, Caller{Name: "reports"}, true},
		{[]string{"edge", "operator"}, Caller{"operator", true}, true},
		{[]string{"sre", "edge"}, Caller{"sre", true}, true},
		{[]string{"poi", "poi.waybook.svc"}, Caller{Name: "poi"}, false},
		{[]string{""}, Caller{}, false},
		{nil, Caller{}, false},
	} {
		got, err := policy.Admit(showing(t, c.names...), method)
		if got != c.want || (err == nil) != c.isSeen {
			t.Errorf("%q is %+v, %v; want %+v", c.names, got, err, c.want)
		}
		var refusal *apierror.Error
		if err != nil && (!errors.As(err, &refusal) || refusal.Reason != apierror.ReasonNotAllowed) {
			t.Errorf("%q is refused with %v", c.names, err)
		}
	}
}

func TestACallerWithoutAVerifiedCertificateIsRefused(t *testing.T) {
	unverified := tls.ConnectionState{PeerCertificates: []*x509.Certificate{{DNSNames: []string{Operator}}}}
	for what, ctx := range map[string]context.Context{
		"no connection":             t.Context(),
		"plain text":                peer.NewContext(t.Context(), &peer.Peer{}),
		"an unverified certificate": peer.NewContext(t.Context(), &peer.Peer{AuthInfo: credentials.TLSInfo{State: unverified}}),
	} {
		if caller, err := newPolicy().Admit(ctx, method); err == nil || caller != (Caller{}) {
			t.Errorf("%s is admitted as %+v", what, caller)
		}
	}
}
