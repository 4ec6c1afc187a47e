package operations_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
	"go.yaml.in/yaml/v3"

	"github.com/waybook/waybook/edge"
	"github.com/waybook/waybook/edge/operation"
	"github.com/waybook/waybook/internal/longform"
)

// The cases are in testdata/alerts.yaml. promtool evaluates them with the rules as Prometheus does.
func TestTheAlertsFireWhenTheyShould(t *testing.T) {
	t.Parallel()
	longform.Only(t)
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("SKIPPED: there is no promtool, from Debian's package prometheus")
	}
	cases, err := os.ReadFile("testdata/alerts.yaml")
	if err != nil {
		t.Fatal(err)
	}
	all := rulesOf(t)
	if output, err := run(t, promtool, all, cases, "check", "rules", "rules.yaml"); err != nil {
		t.Errorf("%v\n%s", err, output)
	}
	if output, err := evaluate(t, promtool, all, cases); err != nil {
		t.Errorf("%v\n%s", err, output)
	}
	// The cases find an alert that is mute, or that fires without a reason.
	for _, change := range [][2]string{{"26 * 3600", "260 * 3600"}, {"> 60", "> 600"}, {"0.75", "0.25"}, {"ignoring(outcome) ", ""}} {
		wrong := bytes.ReplaceAll(all, []byte(change[0]), []byte(change[1]))
		if output, err := evaluate(t, promtool, wrong, cases); err == nil {
			t.Errorf("with %q instead of %q nothing fails:\n%s", change[1], change[0], output)
		}
	}
}

// A list without limit is whole (rule 9.1), so its duration says nothing about the edge.
func TestTheAlertOfASlowEdgeLeavesOutAllListsAndPhotosAndNothingElse(t *testing.T) {
	var file struct {
		Groups []struct {
			Rules []struct{ Alert, Expr string }
		}
	}
	if err := yaml.Unmarshal(rulesOf(t), &file); err != nil {
		t.Fatal(err)
	}
	var funcs *labels.Matcher
	for _, group := range file.Groups {
		for _, rule := range group.Rules {
			if rule.Alert != "WaybookEdgeSlow" {
				continue
			}
			expression, err := parser.NewParser(parser.Options{}).ParseExpr(rule.Expr)
			if err != nil {
				t.Fatal(err)
			}
			for _, matcher := range slices.Concat(parser.ExtractSelectors(expression)...) {
				if matcher.Name == "func" {
					funcs = matcher
				}
			}
		}
	}
	if funcs == nil {
		t.Fatal("the alert has no matcher of func")
	}
	for _, each := range edge.Operations() {
		isLong := each.Func == "addPhoto" || each.Func == "updateProfile" || slices.ContainsFunc(each.Parameters, func(p operation.Parameter) bool { return p.Name == "limit" })
		if funcs.Matches(each.Func) == isLong {
			t.Errorf("%s: is a list or takes a file: %v, and the alert is about it: %[2]v", each.Func, isLong)
		}
	}
	if funcs.Matches(edge.FilesPath) {
		t.Error("the alert is about files")
	}
}

// evaluate evaluates each case with the rules that it names, until one fails. promtool evaluates each rule at every
// minute of a case, and the other rules would take most of its time.
func evaluate(t *testing.T, promtool string, rules, cases []byte) (output []byte, err error) {
	t.Helper()
	var file map[string]any
	if err := yaml.Unmarshal(cases, &file); err != nil {
		t.Fatal(err)
	}
	tests, _ := file["tests"].([]any)
	if len(tests) == 0 {
		t.Fatal("there are no cases")
	}
	for _, test := range tests {
		file["tests"] = []any{test}
		one, err := yaml.Marshal(file)
		if err != nil {
			t.Fatal(err)
		}
		if output, err := run(t, promtool, named(t, rules, one), one, "test", "rules", "cases.yaml"); err != nil {
			return output, err
		}
	}
	return nil, nil
}

// rulesOf returns the rule file in the manifest.
func rulesOf(t *testing.T) []byte {
	t.Helper()
	content, err := os.ReadFile(monitoring + "alerts.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var manifest struct{ Spec yaml.Node }
	if err := yaml.Unmarshal(content, &manifest); err != nil {
		t.Fatal(err)
	}
	rules, err := yaml.Marshal(&manifest.Spec)
	if err != nil {
		t.Fatal(err)
	}
	return rules
}

// named returns the rules of the alerts that the cases name.
func named(t *testing.T, rules, cases []byte) []byte {
	t.Helper()
	var described struct {
		Tests []struct {
			Alerts []struct{ Alertname string } `yaml:"alert_rule_test"`
		}
	}
	var all struct {
		Groups []struct {
			Name  string
			Rules []map[string]any
		}
	}
	if err := errors.Join(yaml.Unmarshal(cases, &described), yaml.Unmarshal(rules, &all)); err != nil {
		t.Fatal(err)
	}
	names := map[any]bool{}
	for _, test := range described.Tests {
		for _, alert := range test.Alerts {
			names[alert.Alertname] = true
		}
	}
	kept := 0
	for n := range all.Groups {
		group := &all.Groups[n]
		group.Rules = slices.DeleteFunc(group.Rules, func(rule map[string]any) bool { return !names[rule["alert"]] })
		kept += len(group.Rules)
	}
	if kept != len(names) {
		t.Errorf("%d rules have the names %v", kept, names)
	}
	left, err := yaml.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	return left
}

// run runs promtool beside the rules and the cases.
func run(t *testing.T, promtool string, rules, cases []byte, args ...string) ([]byte, error) {
	t.Helper()
	directory := t.TempDir()
	for name, content := range map[string][]byte{"rules.yaml": rules, "cases.yaml": cases} {
		if err := os.WriteFile(filepath.Join(directory, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	command := exec.CommandContext(t.Context(), promtool, args...)
	command.Dir = directory
	return command.CombinedOutput()
}
