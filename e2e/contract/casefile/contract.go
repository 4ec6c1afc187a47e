package casefile

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// ContractFile is the path of the rules, from the root of the repository.
const ContractFile = "docs/contract.md"

var (
	sectionHeading = regexp.MustCompile(`^## (\d+)\. `)
	ruleHeading    = regexp.MustCompile(`^- \*\*(\d+)\.(\d+)\*\* \((legacy|decision|addition)\) \S`)
	ruleMark       = regexp.MustCompile(`\*\*\d+\.\d+\*\*`)
)

// ParseContract returns the numbers of the rules, such as 4.12, in their order. Numbers
// increase within a section. A missing number is that of a removed rule.
func ParseContract(path, text string) ([]string, error) {
	var rules []string
	section, last := 0, 0
	for i, line := range strings.Split(text, "\n") {
		if heading := sectionHeading.FindStringSubmatch(line); heading != nil {
			number, _ := strconv.Atoi(heading[1])
			if number <= section {
				return nil, &Error{path, i + 1, fmt.Sprintf("section %d follows section %d", number, section)}
			}
			section, last = number, 0
			continue
		}
		if !ruleMark.MatchString(line) {
			continue
		}
		heading := ruleHeading.FindStringSubmatch(line)
		if heading == nil {
			return nil, &Error{path, i + 1, "want - **4.12** (legacy, decision or addition) and the rule"}
		}
		in, _ := strconv.Atoi(heading[1])
		number, _ := strconv.Atoi(heading[2])
		if in != section || number <= last {
			return nil, &Error{path, i + 1, fmt.Sprintf("rule %d.%d follows rule %d.%d", in, number, section, last)}
		}
		last = number
		rules = append(rules, heading[1]+"."+heading[2])
	}
	return rules, nil
}

// numbers matches one or more numbers of rules, as in "4.12, 5.1 and 5.2".
const numbers = `\d+\.\d+(?:(?:, | and )\d+\.\d+)*`

var (
	sentenceRules = regexp.MustCompile(` \(rules? (` + numbers + `)\)$`)
	ruleNumber    = regexp.MustCompile(`\d+\.\d+`)
)

// Rules returns the numbers of the rules that the case's sentence cites.
func (c *Case) Rules() []string { return rulesOf(c.Sentence) }

func rulesOf(sentence string) []string {
	cited := sentenceRules.FindStringSubmatch(sentence)
	if cited == nil {
		return nil
	}
	return ruleNumber.FindAllString(cited[1], -1)
}
