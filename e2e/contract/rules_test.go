package contract

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/waybook/waybook/e2e/contract/casefile"
)

// root is the path of the repository's root.
const root = "../.."

func TestTheListOfRulesIsCurrent(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, casefile.ContractFile))
	if err != nil {
		t.Fatal(err)
	}
	contract, err := casefile.ParseContract(casefile.ContractFile, string(text))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(caseDirectory, casefile.RulesFile)
	if text, err = os.ReadFile(path); err != nil {
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
	if *update {
		if err := os.WriteFile(path, []byte(withCited(string(text), contract, cases)), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	for _, problem := range problemsOf(contract, rules, cases, testsBelow(t)) {
		t.Errorf("%s: %s", path, problem)
	}
}

// withCited returns the list with a line for each rule of the contract that a case cites, in the order of the
// contract. What a line has stays. A rule without a line and without a case is left to a person.
func withCited(list string, contract []string, cases []*casefile.Case) string {
	lines := strings.SplitAfter(list, "\n")
	at := 0 // behind the line of the rule before
	for _, number := range contract {
		own := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, number+" | ") })
		for _, c := range cases {
			switch {
			case !slices.Contains(c.Rules(), number):
			case own < 0:
				own = at
				lines = slices.Insert(lines, own, number+" | "+c.Name+"\n")
			case !slices.Contains(strings.Fields(lines[own]), c.Name):
				lines[own] = strings.TrimRight(lines[own], "\n") + " " + c.Name + "\n"
			}
		}
		if own >= 0 {
			at = own + 1
		}
	}
	return strings.Join(lines, "")
}

// problemsOf compares the contract's rules, the list of their cases and tests, and the
// cases. hasTest reports whether a directory has a test.
func problemsOf(
	contract []string, rules []casefile.Rule, cases []*casefile.Case, hasTest func(directory, test string) bool,
) (problems []string) {
	complain := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	shownBy := map[string][]string{}
	isListed := map[string]bool{}
	isNamed := map[string]bool{}
	for _, c := range cases {
		isNamed[c.Name] = false
	}
	for _, rule := range rules {
		if !slices.Contains(contract, rule.Number) {
			complain("line %d: %s has no rule %s", rule.Line, casefile.ContractFile, rule.Number)
		}
		if isListed[rule.Number] {
			complain("line %d: rule %s is listed twice", rule.Line, rule.Number)
		}
		isListed[rule.Number] = true
		shownBy[rule.Number] = rule.Cases
		for _, name := range rule.Cases {
			if _, exists := isNamed[name]; !exists {
				complain("line %d: there is no case %s", rule.Line, name)
			}
			isNamed[name] = true
		}
		for _, test := range rule.Tests {
			if !hasTest(rule.Directory, test) {
				complain("line %d: %s has no test %s", rule.Line, rule.Directory, test)
			}
		}
	}
	for _, number := range contract {
		if !isListed[number] {
			complain("rule %s is not listed", number)
		}
	}
	for _, c := range cases {
		if !isNamed[c.Name] {
			complain("no rule names the case %s", c.Name)
		}
		for _, number := range c.Rules() {
			if !slices.Contains(shownBy[number], c.Name) {
				complain("the case %s cites rule %s, which does not name it", c.Name, number)
			}
		}
	}
	return problems
}

// testsBelow returns a function that reports whether a directory has a test or a benchmark
// in it or below it. It reads each directory once.
func testsBelow(t *testing.T) func(directory, test string) bool {
	sources := map[string][]byte{}
	return func(directory, test string) bool {
		if _, isRead := sources[directory]; !isRead {
			sources[directory] = readTests(t, filepath.Join(root, directory))
		}
		return bytes.Contains(sources[directory], []byte("\nfunc "+test+"("))
	}
}

func readTests(t *testing.T, directory string) (source []byte) {
	err := filepath.WalkDir(directory, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		source = append(source, text...)
		return err
	})
	if err != nil {
		t.Errorf("a directory in %s: %v", casefile.RulesFile, err)
	}
	return source
}
