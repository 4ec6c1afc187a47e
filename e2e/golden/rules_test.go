package golden

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/waybook/waybook/e2e/golden/casefile"
)

// sources are the sections of which every rule is listed. Those that a rule of
// DESIGN §4 settles are listed with it. An addition is what the interface has
// beyond the contract.
func sources() []string {
	return []string{
		"seed 2.1", "seed 2.2", "seed 2.3", "seed 2.4", "seed 2.5", "seed 2.6", "seed 2.7", "seed 2.8", "seed 2.9", "seed 2.10",
		"seed 3",
		"seed 4.1", "seed 4.2", "seed 4.3", "seed 4.4", "seed 4.5", "seed 4.6", "seed 4.7", "seed 4.8", "seed 4.9",
		"seed 4.10", "seed 4.11", "seed 4.12", "seed 4.13",
		"seed 5", "seed 6", "seed 7",
		"DESIGN §4",
		"addition",
	}
}

func TestEveryRuleNamesItsCasesAndEveryCaseBelongsToARule(t *testing.T) {
	path := filepath.Join(caseDirectory, casefile.RulesFile)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	rules, err := casefile.ParseRules(path, string(text))
	if err != nil {
		t.Fatal(err)
	}
	cases, err := casefile.Load(caseDirectory)
	if err != nil {
		t.Fatal(err)
	}
	isNamed := map[string]bool{}
	for _, c := range cases {
		isNamed[c.Name] = false
	}
	hasRules := map[string]bool{}
	for _, rule := range rules {
		if !slices.Contains(sources(), rule.Source) {
			t.Errorf("%s:%d: %q is not a source", path, rule.Number, rule.Source)
		}
		hasRules[rule.Source] = true
		for _, name := range rule.Cases {
			if _, exists := isNamed[name]; !exists {
				t.Errorf("%s:%d: there is no case %s", path, rule.Number, name)
			}
			isNamed[name] = true
		}
	}
	for _, source := range sources() {
		if !hasRules[source] {
			t.Errorf("%s: no rule of %s", path, source)
		}
	}
	for _, c := range cases {
		if !isNamed[c.Name] {
			t.Errorf("%s: no rule names the case %s", path, c.Name)
		}
	}
}
