package structure_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	fuzzTest = regexp.MustCompile(`(?m)^func (Fuzz\w+)\(`)
	// A row of the table has the fuzz tests of some packages.
	fuzzRow  = regexp.MustCompile("(?m)^\\| `[^`|]+` \\| Fuzz.*")
	fuzzName = regexp.MustCompile(`\bFuzz\w+`)
)

func TestTheTableOfFuzzTestsHasAllOfThem(t *testing.T) {
	var tests []string
	isTest := func(path string) bool { return strings.HasSuffix(path, "_test.go") }
	eachFile(t, isTest, func(_ string, text []byte) {
		for _, found := range fuzzTest.FindAllSubmatch(text, -1) {
			tests = append(tests, string(found[1]))
		}
	})
	const page = "docs/reliability.md"
	text, err := os.ReadFile(filepath.Join(root, page))
	if err != nil {
		t.Fatal(err)
	}
	var rows []string
	for _, row := range fuzzRow.FindAllString(string(text), -1) {
		rows = append(rows, fuzzName.FindAllString(row, -1)...)
	}
	slices.Sort(tests)
	slices.Sort(rows)
	for _, each := range tests {
		if !slices.Contains(rows, each) {
			t.Errorf("%s has no row for %s; run tools/fuzz 30s %[2]s", page, each)
		}
	}
	for i, each := range rows {
		if !slices.Contains(tests, each) || i > 0 && rows[i-1] == each {
			t.Errorf("%s has a row for %s, which is not a test or has another row", page, each)
		}
	}
}
