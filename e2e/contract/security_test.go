package contract

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

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
