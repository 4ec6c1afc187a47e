package access

import (
	"context"
	"slices"

	"github.com/waybook/waybook/internal/platform/apierror"
	"github.com/waybook/waybook/internal/platform/mtls"
)

// Caller is the process that makes a call.
type Caller struct {
	// Name is a name in its certificate, InProcess or PlainText.
	Name string
	// IsOperator reports whether it may call everything because of its certificate.
	IsOperator bool
}

// The names of callers without a certificate.
const (
	// InProcess is a part of the same program.
	InProcess = "in-process"
	// PlainText is any client of a port without TLS. It may call everything.
	PlainText = "plaintext"
)

// Policy decides by the names in a client's certificate. It may be used concurrently.
type Policy struct {
	rules   *Rules
	clients Clients
}

// NewPolicy returns the policy of the contracts, with further clients.
func NewPolicy(rules *Rules, clients Clients) *Policy { return &Policy{rules, clients} }

// Admit returns the caller of a method. It fails if the caller may not call the method; the
// error is the same whoever calls and whatever is called. Name is the one that permits the
// call, or the first one of the certificate.
func (p *Policy) Admit(ctx context.Context, method string) (Caller, error) {
	names := mtls.PeerNames(ctx)
	for _, name := range names {
		if p.clients.isAs(name, Operator) {
			return Caller{Name: name, IsOperator: true}, nil
		}
	}
	rule, _ := p.rules.Of(method)
	for _, name := range names {
		mayCall := func(identity string) bool { return p.clients.isAs(name, identity) }
		if slices.ContainsFunc(rule.Callers, mayCall) || p.clients.covers(name, method) {
			return Caller{Name: name}, nil
		}
	}
	var caller Caller
	if len(names) > 0 {
		caller.Name = names[0]
	}
	return caller, apierror.NotAllowed()
}
