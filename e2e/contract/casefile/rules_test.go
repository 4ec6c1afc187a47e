package casefile

import (
	"slices"
	"testing"
)

func TestARuleNamesCasesOrTheTestsThatShowIt(t *testing.T) {
	rules, err := ParseRules("RULES.txt", "# comment\n\n4.3 | one two\n6.12 | - e2e/rpc TestOne TestTwo\n")
	if err != nil || len(rules) != 2 {
		t.Fatalf("got %+v, %v", rules, err)
	}
	if r := rules[0]; r.Line != 3 || r.Number != "4.3" || !slices.Equal(r.Cases, []string{"one", "two"}) || r.Directory != "" {
		t.Errorf("got %+v", r)
	}
	if r := rules[1]; r.Number != "6.12" || r.Cases != nil || r.Directory != "e2e/rpc" || !slices.Equal(r.Tests, []string{"TestOne", "TestTwo"}) {
		t.Errorf("got %+v", r)
	}
	for _, wrong := range []string{"4.3", "4.3 |", "| one", "4 | one", "4.3.1 | one", "4.3 | -", "4.3 | - e2e/rpc"} {
		if _, err := ParseRules("RULES.txt", wrong); err == nil {
			t.Errorf("%q was accepted", wrong)
		}
	}
}

func TestTheContractsRulesAreReadInTheirOrder(t *testing.T) {
	rules, err := ParseContract("c.md", "# The contract\n\n## 1. One\n\n- **1.1** (legacy) A rule,\n  of two lines.\n"+
		"- **1.3** (decision) A rule after one that is gone:\n\n  | a | table |\n\n## 4. Four\n\n- **4.12** (addition) A rule.\n")
	if want := []string{"1.1", "1.3", "4.12"}; err != nil || !slices.Equal(rules, want) {
		t.Errorf("got %q, %v, want %q", rules, err, want)
	}
	for name, wrong := range map[string]string{
		"a rule before every section": "- **1.1** (legacy) A rule.",
		"a rule of another section":   "## 1. One\n- **2.1** (legacy) A rule.",
		"a number that comes twice":   "## 1. One\n- **1.1** (legacy) A rule.\n- **1.1** (legacy) Another.",
		"numbers that go down":        "## 1. One\n- **1.2** (legacy) A rule.\n- **1.1** (legacy) Another.",
		"sections that go down":       "## 2. Two\n## 1. One",
		"a rule of no origin":         "## 1. One\n- **1.1** A rule.",
		"a rule of another origin":    "## 1. One\n- **1.1** (rumour) A rule.",
		"a rule without words":        "## 1. One\n- **1.1** (legacy) ",
		"a rule in the text":          "## 1. One\nIt is **1.1** (legacy) so.",
	} {
		if rules, err := ParseContract("c.md", wrong); err == nil {
			t.Errorf("%s: read as %q", name, rules)
		}
	}
}

func TestACaseCitesTheRulesAtTheEndOfItsSentence(t *testing.T) {
	for sentence, want := range map[string][]string{
		"A rule (rule 4.12)":                       {"4.12"},
		"A rule (rules 4.12 and 5.1)":              {"4.12", "5.1"},
		"A rule (rules 1.1, 4.12 and 5.1)":         {"1.1", "4.12", "5.1"},
		"A rule (rule 1.1), and others (rule 5.1)": {"5.1"},
		"A rule (rule 1.1) and more":               nil,
		"A rule of 4.12":                           nil,
	} {
		if got := (&Case{Sentence: sentence}).Rules(); !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", sentence, got, want)
		}
	}
}
