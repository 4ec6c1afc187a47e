package access

import (
	"slices"
	"strings"
	"testing"
)

func contracts(t testing.TB) Rules {
	t.Helper()
	rules, err := Contracts()
	if err != nil {
		t.Fatal(err)
	}
	return rules
}

func TestEveryMethodDeclaresItsCallers(t *testing.T) {
	rules := contracts(t)
	if len(rules) < 55 {
		t.Fatalf("only %d methods", len(rules))
	}
	for _, rule := range rules {
		if !rule.IsDeclared {
			t.Errorf("%s lacks the option waybook.access.v1.access", rule.Method)
		}
		if !slices.IsSorted(rule.Callers) || len(slices.Compact(slices.Clone(rule.Callers))) != len(rule.Callers) {
			t.Errorf("%s: the callers %v are not in order, each once", rule.Method, rule.Callers)
		}
		if slices.Contains(rule.Callers, Operator) {
			t.Errorf("%s lists the operator, who may call every method", rule.Method)
		}
	}
	if got := contracts(t).Identities(); !slices.Equal(got, []string{"album", "blog", "edge", "poi", "operator"}) {
		t.Errorf("the identities are %v", got)
	}
}

// A read that only the operator may call is no event, except for a copy of the whole store.
func TestAChangeThatOnlyTheOperatorMayCallIsAnEventOfItsOwn(t *testing.T) {
	for _, rule := range contracts(t) {
		isOfAccounts := strings.HasPrefix(rule.Method, "/waybook.account.")
		if isOfAccounts && !rule.IsRead && len(rule.Callers) == 0 && rule.Event == "" {
			t.Errorf("%s changes something and has no event", rule.Method)
		}
		if rule.IsRead && rule.Event != "" {
			t.Errorf("%s is a read and an event", rule.Method)
		}
	}
}

func TestAMethodOfNoContractHasNoRule(t *testing.T) {
	if rule, ok := contracts(t).Of("/grpc.health.v1.Health/Check"); ok || len(rule.Callers) > 0 {
		t.Errorf("health checks have the rule %+v", rule)
	}
}
