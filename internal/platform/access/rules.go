// Package access decides which clients may call which methods of the services. The contracts
// declare it with an option of each method (waybook/access/v1/access.proto). The flag -clients
// adds clients of the operator's own.
package access

import (
	"slices"
	"sync"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"

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
