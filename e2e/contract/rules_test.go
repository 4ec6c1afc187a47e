package contract

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/waybook/waybook/e2e/contract/casefile"
	"github.com/waybook/waybook/edge"
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

var testName = regexp.MustCompile("`((?:Test|Fuzz)\\w+)`")

// Each promise of SECURITY.md names a directory for its tests, and tests in that directory or
// below it. So does each attack, and each thing that may be stolen.
func TestThePromisesOfSecurityNameTestsThatExist(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, "SECURITY.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, promises, _ := strings.Cut(string(page), "\n## Promises\n")
	promises, _, _ = strings.Cut(promises, "\n## ")
	hasTest := testsBelow(t)
	found := 0
	for line := range strings.Lines(promises) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | ")
		if len(cells) < 2 || strings.HasPrefix(line, "| ---") || strings.HasSuffix(line, "| tests |\n") {
			continue
		}
		found++
		for part := range strings.SplitSeq(cells[len(cells)-1], ";") {
			directory, tests, _ := strings.Cut(strings.TrimSpace(part), " ")
			directory = strings.TrimSuffix(directory, ",")
			if _, err := os.Stat(filepath.Join(root, directory)); err != nil {
				t.Errorf("%s: %v", cells[0], err)
				continue
			}
			for _, name := range testName.FindAllStringSubmatch(tests, -1) {
				if !hasTest(directory, name[1]) {
					t.Errorf("%s has no test %s", directory, name[1])
				}
			}
		}
	}
	if found < 50 {
		t.Errorf("found only %d promises", found)
	}
}

// A parameter has a case if a file sends it, and calls its operation.
func TestEveryParameterHasACaseAndIsInTheContract(t *testing.T) {
	read := func(path string) string {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	files, err := filepath.Glob(filepath.Join(caseDirectory, "*.txt"))
	if err != nil {
		t.Fatal(err)
	}
	sent, numbered := regexp.MustCompile(`\b(\w+)=(\w*)`), regexp.MustCompile(`\d+$`)
	tried := map[string]bool{}
	for _, file := range files {
		functions, parameters := map[string]bool{}, map[string]bool{}
		for _, each := range sent.FindAllStringSubmatch(read(file), -1) {
			parameters[each[1]] = true
			if each[1] == "func" {
				functions[each[2]] = true
			}
		}
		for function := range functions {
			for parameter := range parameters {
				tried[function+" with "+parameter] = true
			}
		}
	}
	contract := read("../../docs/contract.md")
	for _, each := range edge.Operations() {
		for _, parameter := range each.Parameters {
			name := each.Func + " with " + parameter.Name
			isOfLists := parameter.Name == "limit" || parameter.Name == "after" // rules 9.2 to 9.4
			if isOfLists || numbered.ReplaceAllString(parameter.Name, "") == "choice" && parameter.Name != "choice" {
				continue
			}
			if !tried[name] {
				t.Errorf("%s has no case", name)
			}
			if !strings.Contains(contract, "`"+parameter.Name+"`") {
				t.Errorf("docs/contract.md does not name %s of %s", parameter.Name, each.Func)
			}
		}
	}
}

// The list of functions in the failure of an unknown one comes from the table of the edge.
func TestTheCaseOfAnUnknownFunctionIsCurrent(t *testing.T) {
	path := filepath.Join(caseDirectory, "func.txt")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, hasBegin := strings.Cut(string(text), "func (one of ")
	shown, after, hasEnd := strings.Cut(rest, ")<")
	if !hasBegin || !hasEnd {
		t.Fatalf("%s has no list of functions", path)
	}
	var names []string
	for _, each := range edge.Operations() {
		if !slices.Contains(names, each.Func) {
			names = append(names, each.Func)
		}
	}
	want, width := names[0], 60
	for _, name := range names[1:] {
		if width += len(", ") + len(name); width > 100 {
			want, width = want+",{SP}\n          "+name, len(name)
		} else {
			want += ", " + name
		}
	}
	if *update {
		if err := os.WriteFile(path, []byte(before+"func (one of "+want+")<"+after), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if shown != want {
		t.Errorf("%s is stale: run tools/update", path)
	}
}
