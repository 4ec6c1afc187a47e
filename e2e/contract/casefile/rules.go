package casefile

import (
	"regexp"
	"strings"
)

// RulesFile lists the cases or tests of each rule.
const RulesFile = "RULES.txt"

// Rule is one line of the list: `4.12 | cases`. For a rule that no request and reply can
// show, the line has `- directory tests` instead of cases.
type Rule struct {
	// Line is the line number, from 1.
	Line int
	// Number is the rule's number in ContractFile.
	Number string
	Cases  []string
	// Directory is a directory below the root of the repository. The Tests are in it or
	// below it.
	Directory string
	Tests     []string
}

var wholeNumber = regexp.MustCompile(`^\d+\.\d+$`)

// ParseRules reads the list. Blank lines and lines that begin with # are skipped.
func ParseRules(path, text string) ([]Rule, error) {
	var rules []Rule
	for i, text := range strings.Split(text, "\n") {
		if strings.TrimSpace(text) == "" || text[0] == '#' {
			continue
		}
		number, shown, _ := strings.Cut(text, "|")
		rule := Rule{Line: i + 1, Number: strings.TrimSpace(number)}
		words := strings.Fields(shown)
		switch {
		case !wholeNumber.MatchString(rule.Number) || len(words) == 0:
			return nil, &Error{path, i + 1, "want a rule's number, | and cases"}
		case words[0] != "-":
			rule.Cases = words
		case len(words) < 3:
			return nil, &Error{path, i + 1, "want a directory and tests after the dash"}
		default:
			rule.Directory, rule.Tests = words[1], words[2:]
		}
		rules = append(rules, rule)
	}
	return rules, nil
}
