// Package access decides which clients may call which methods of the services. The contracts
// declare it with an option of each method (waybook/access/v1/access.proto). The flag -clients
// adds clients of the operator's own.
package access

import (
	"context"
	"slices"
	"sync"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/waybook/waybook/internal/platform/apierror"
	"github.com/waybook/waybook/internal/platform/mtls"
	"github.com/waybook/waybook/proto/descriptors"
	accessv1 "github.com/waybook/waybook/proto/gen/waybook/access/v1"
)

// Operator is the identity that may call every method.
const Operator = "operator"

// Rule is what a contract declares about a method.
type Rule struct {
	// Method is the full name, such as "/waybook.album.v1.AlbumService/GetAlbum".
	Method string
	// IsDeclared reports whether the method has the option. Without it, only Operator may
	// call.
	IsDeclared bool
	// Callers are the identities that may call, besides Operator.
	Callers []string
	// IsRead reports whether a call changes nothing.
	IsRead bool
	// Event, PasswordEvent and RefusedEvent name the events of the audit log, as the option
	// explains.
	Event, PasswordEvent, RefusedEvent string
}

// Rules are the rules of all methods of the contracts. They do not change.
type Rules struct {
	list     []Rule
	byMethod map[string]*Rule
}

// Contracts returns the rules that the contracts declare. It decodes the contracts once.
func Contracts() (*Rules, error) { return decodeOnce() }

var decodeOnce = sync.OnceValues(func() (*Rules, error) {
	methods, err := descriptors.Methods()
	if err != nil {
		return nil, err
	}
	list := make([]Rule, len(methods))
	for i, method := range methods {
		list[i] = ruleOf(method)
	}
	return newRules(list...), nil
})

func newRules(list ...Rule) *Rules {
	r := &Rules{list: list, byMethod: make(map[string]*Rule, len(list))}
	for i := range list {
		r.byMethod[list[i].Method] = &list[i]
	}
	return r
}

func ruleOf(method descriptors.Method) Rule {
	options := method.GetOptions()
	rule := Rule{
		Method:     method.FullName,
		IsDeclared: proto.HasExtension(options, accessv1.E_Access),
		IsRead:     options.GetIdempotencyLevel() == descriptorpb.MethodOptions_NO_SIDE_EFFECTS,
	}
	if declared, ok := proto.GetExtension(options, accessv1.E_Access).(*accessv1.Access); ok {
		rule.Callers = declared.GetCallers()
		rule.Event, rule.PasswordEvent, rule.RefusedEvent = declared.GetEvent(), declared.GetPasswordEvent(), declared.GetRefusedEvent()
	}
	return rule
}

// All returns the rules in the order of the contracts. The caller must not change them.
func (r *Rules) All() []Rule { return r.list }

// Of returns the rule of a method. It reports false for a method of no contract, such as
// those of health checks and of reflection.
func (r *Rules) Of(method string) (Rule, bool) {
	found, ok := r.byMethod[method]
	if !ok {
		return Rule{}, false
	}
	return *found, true
}

// Identities returns the identities that the rules name, in alphabetical order, and Operator
// at the end.
func (r *Rules) Identities() []string {
	var named []string
	for i := range r.list {
		named = append(named, r.list[i].Callers...)
	}
	slices.Sort(named)
	return append(slices.Compact(named), Operator)
}

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
