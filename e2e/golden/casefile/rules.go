package casefile

import (
	"strings"
)

// RulesFile lists the rules beside the cases that show them.
const RulesFile = "RULES.txt"

// Rule is one line of the list: `source | sentence | cases`. In place of cases, a
// rule that no request and reply can show has a dash and where it is shown instead.
type Rule struct {
	Number    int
	Source    string
	Sentence  string
	Cases     []string
	Elsewhere string
}

// ParseRules reads the list. Blank lines and lines that begin with # are skipped.
func ParseRules(path, text string) ([]Rule, error) {
	var rules []Rule
	for i, text := range strings.Split(text, "\n") {
		if strings.TrimSpace(text) == "" || text[0] == '#' {
			continue
		}
		columns := strings.Split(text, "|")
		if len(columns) != 3 {
			return nil, &Error{path, i + 1, "want source | sentence | cases"}
		}
		rule := Rule{Number: i + 1, Source: strings.TrimSpace(columns[0]), Sentence: strings.TrimSpace(columns[1])}
		shown := strings.TrimSpace(columns[2])
		if elsewhere, ok := strings.CutPrefix(shown, "- "); ok {
			rule.Elsewhere = elsewhere
		} else {
			rule.Cases = strings.Fields(shown)
		}
		if rule.Source == "" || rule.Sentence == "" || rule.Elsewhere == "" && len(rule.Cases) == 0 {
			return nil, &Error{path, i + 1, "a rule has a source, a sentence, and cases or where else it is shown"}
		}
		rules = append(rules, rule)
	}
	return rules, nil
}
