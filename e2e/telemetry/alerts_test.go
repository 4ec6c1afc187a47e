package telemetry_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"go.yaml.in/yaml/v3"
)

// The cases are in testdata/alerts.yaml. promtool evaluates them with the rules as Prometheus does.
func TestTheAlertsFireWhenTheyShould(t *testing.T) {
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("SKIPPED: there is no promtool, from Debian's package prometheus")
	}
	cases, err := os.ReadFile("testdata/alerts.yaml")
	if err != nil {
		t.Fatal(err)
	}
	rules := rulesOf(t)
	if output, err := evaluate(t, promtool, rules, cases); err != nil {
		t.Errorf("%v\n%s", err, output)
	}
	// The cases find an alert that is mute.
	for _, change := range [][2]string{{"26 * 3600", "260 * 3600"}, {"> 60", "> 600"}, {"0.75", "0.25"}} {
		mute := bytes.ReplaceAll(rules, []byte(change[0]), []byte(change[1]))
		if output, err := evaluate(t, promtool, mute, cases); err == nil {
			t.Errorf("with %q instead of %q nothing fails:\n%s", change[1], change[0], output)
		}
	}
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

// evaluate runs the cases on rules.
func evaluate(t *testing.T, promtool string, rules, cases []byte) ([]byte, error) {
	t.Helper()
	directory := t.TempDir()
	for name, content := range map[string][]byte{"rules.yaml": rules, "cases.yaml": cases} {
		if err := os.WriteFile(filepath.Join(directory, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	command := exec.CommandContext(t.Context(), promtool, "test", "rules", "cases.yaml")
	command.Dir = directory
	return command.CombinedOutput()
}
