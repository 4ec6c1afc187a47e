// Package access decides which clients may call which methods of the services. The contracts
// declare it with an option of each method (waybook/access/v1/access.proto). The flag -clients
// adds clients of the operator's own.
package access

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"slices"
	"strings"
	"sync"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/waybook/waybook/internal/platform/apierror"
	"github.com/waybook/waybook/internal/platform/mtls"
	"github.com/waybook/waybook/internal/platform/settings"
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
	// Event and PasswordEvent name the events of the audit log, as the option explains.
	Event, PasswordEvent string
}

// Rules are the rules of all methods, in the order of the contracts.
type Rules []Rule

// Contracts returns the rules that the contracts declare, which the caller must not change. It
// decodes the contracts once.
var Contracts = sync.OnceValues(func() (Rules, error) {
	methods, err := descriptors.Methods()
	if err != nil {
		return nil, err
	}
	rules := make(Rules, len(methods))
	for i, method := range methods {
		rules[i] = ruleOf(method)
	}
	return rules, nil
})

func ruleOf(method descriptors.Method) Rule {
	options := method.GetOptions()
	rule := Rule{
		Method:     method.FullName,
		IsDeclared: proto.HasExtension(options, accessv1.E_Access),
		IsRead:     options.GetIdempotencyLevel() == descriptorpb.MethodOptions_NO_SIDE_EFFECTS,
	}
	if declared, ok := proto.GetExtension(options, accessv1.E_Access).(*accessv1.Access); ok {
		rule.Callers = declared.GetCallers()
		rule.Event, rule.PasswordEvent = declared.GetEvent(), declared.GetPasswordEvent()
	}
	return rule
}

// Of returns the rule of a method. It reports false for a method of no contract, such as
// those of health checks and of reflection.
func (r Rules) Of(method string) (rule Rule, isKnown bool) {
	for i := range r { // without a copy of each
		if r[i].Method == method {
			return r[i], true
		}
	}
	return Rule{}, false
}

// Identities returns the identities that the rules name, in alphabetical order, and Operator
// at the end.
func (r Rules) Identities() []string {
	var named []string
	for _, rule := range r {
		named = append(named, rule.Callers...)
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
	rules   Rules
	clients Clients
}

// NewPolicy returns the policy of the contracts, with further clients.
func NewPolicy(rules Rules, clients Clients) *Policy { return &Policy{rules, clients} }

// Admit returns the caller of a method. It fails if the caller may not call the method; the
// error is the same for each caller and method. Name is the one that permits the
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

// Clients are clients that may call although no contract names them: the services of an
// operator, or Waybook's own processes under other names. It is a flag.Value. The zero value
// has none.
type Clients []grant

// grant lets one client call something.
type grant struct {
	// client is a DNS name in the client's certificate.
	client string
	// to is an identity, whose methods the client may call, or a pattern of methods: a full
	// name, or the beginning of one with an asterisk.
	to string
}

func (c *Clients) Register(flags *flag.FlagSet) {
	flags.Var(c, "clients", "further clients with TLS, as comma-separated `NAME=GRANT`: a name in the client's "+
		"certificate, and what it may call: "+
		"a method such as /waybook.album.v1.AlbumService/GetAlbum, methods such as /waybook.album.v1.AlbumService/*, "+
		"or everything that one of edge, album, blog, poi and operator may call")
}

func (c *Clients) String() string {
	parts := make([]string, len(*c))
	for i, each := range *c {
		parts[i] = each.client + "=" + each.to
	}
	return strings.Join(parts, ",")
}

// Set parses the flag's value and replaces the earlier one. It refuses a grant of nothing,
// which is a typing error.
func (c *Clients) Set(value string) error {
	rules, err := Contracts()
	if err != nil {
		return err
	}
	var parsed Clients
	for _, part := range settings.List(value) {
		each, err := parseGrant(part, rules)
		if err != nil {
			return fmt.Errorf("%q: %w", part, err)
		}
		parsed = append(parsed, each)
	}
	*c = parsed
	return nil
}

func parseGrant(part string, rules Rules) (grant, error) {
	client, to, ok := strings.Cut(part, "=")
	parsed := grant{strings.TrimSpace(client), strings.TrimSpace(to)}
	identities := rules.Identities()
	switch {
	case !ok || parsed.client == "":
		return grant{}, errors.New("want NAME=GRANT, such as reports=/waybook.album.v1.AlbumService/GetAlbum")
	case !parsed.isPattern():
		if !slices.Contains(identities, parsed.to) {
			return grant{}, fmt.Errorf("%q is neither a method, which begins with a slash, nor one of %s", parsed.to,
				strings.Join(identities, ", "))
		}
	case strings.HasPrefix(parsed.to, "/grpc."):
		// Health checks and reflection are in no contract.
	case !slices.ContainsFunc(rules, func(rule Rule) bool { return parsed.covers(rule.Method) }):
		return grant{}, errors.New("no contract has such a method")
	}
	return parsed, nil
}

func (g grant) isPattern() bool { return strings.HasPrefix(g.to, "/") }

// covers reports whether a grant's pattern matches a method.
func (g grant) covers(method string) bool {
	if !g.isPattern() {
		return false
	}
	if beginning, ok := strings.CutSuffix(g.to, "*"); ok {
		return strings.HasPrefix(method, beginning)
	}
	return method == g.to
}

// isAs reports whether a client may call everything that an identity may call.
func (c Clients) isAs(client, identity string) bool {
	return client == identity || slices.Contains(c, grant{client, identity})
}

// covers reports whether a pattern lets a client call a method.
func (c Clients) covers(client, method string) bool {
	return slices.ContainsFunc(c, func(each grant) bool { return each.client == client && each.covers(method) })
}
