package contract

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/waybook/waybook/edge"
)

// A parameter has a case if a file sends it, and calls its operation.
func TestEveryParameterHasACaseAndIsInTheDocs(t *testing.T) {
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
	contract, guide := read("../../docs/contract.md"), read("../../docs/legacy.md")
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
			if !strings.Contains(guide, parameter.Name) {
				t.Errorf("docs/legacy.md does not name %s of %s", parameter.Name, each.Func)
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
