package structure_test

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
)

// citing are the extensions of the files whose citations are checked; scripts have none.
var citing = []string{".go", ".md", ".proto", ".txt", ".yaml", ".sh", ".js", ".json", ""}

// gap matches the text between two words: blanks, or a line break within a comment.
const gap = `(?:[ \t]|\r?\n[ \t]*(?://|#)?[ \t]*)+`

var (
	citation = regexp.MustCompile(`\b[Rr]ules?` + gap + `(\d+\.\d+(?:(?:,` + gap + `(?:and` + gap + `)?|` + gap + `(?:and|or|to)` + gap + `)\d+\.\d+)*)`)
	number   = regexp.MustCompile(`\d+\.\d+`)

	// absent match citations of documents that the repository does not hold: a design, and
	// the text of the old interface. "Seed" and "design" are also ordinary words: a seed of
	// random numbers makes, gives and draws, and the design of something is described.
	absent = []*regexp.Regexp{
		regexp.MustCompile(`\bDESIGN\b`),
		regexp.MustCompile(`§` + `[ \t]?\d`),
		regexp.MustCompile(`\b[Tt]he` + gap + `design(?:'s\b|` + gap + `(?:asks|does|has|leaves|says|wants)\b)`),
		regexp.MustCompile(`\b[Dd]eparts` + gap + `from` + gap + `the` + gap + `design\b`),
		regexp.MustCompile(`\b(?:of|and)` + gap + `the` + gap + `design(?:` + gap + `(?:are|is|leaves?)\b|[.,:;)])`),
		regexp.MustCompile(`\b[Ss]eed` + gap + `\d+\.\d+\b`),
		regexp.MustCompile(`\b[Tt]he` + gap + `seed(?:'s\b|` + gap + `(?:asks|does|has|leaves|names|says|shows)\b)`),
		regexp.MustCompile(`\(the` + gap + `seed\)|\bin` + gap + `the` + gap + `seed\b`),
		regexp.MustCompile(`\b[Cc]ontract` + gap + `\(?\d+(?:\.\d+)?\b`),
	}
)

func TestEveryCitationNamesARuleOfTheRepository(t *testing.T) {
	isRule := rulesOfTheContract(t)
	cited := 0
	isCiting := func(path string) bool {
		return slices.Contains(citing, filepath.Ext(path)) && !isGenerated(path) &&
			filepath.Base(path) != "citations_test.go" // its examples are wrong on purpose
	}
	eachFile(t, isCiting, func(path string, text []byte) {
		cited += len(citation.FindAllIndex(text, -1))
		for _, problem := range citationProblems(text, isRule) {
			t.Errorf("%s:%s", strings.TrimPrefix(path, root+"/"), problem)
		}
	})
	if cited < 100 {
		t.Errorf("found only %d citations of rules", cited)
	}
}

// eachFile reads the wanted files of the repository.
func eachFile(t *testing.T, isWanted func(path string) bool, visit func(path string, text []byte)) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != root && isElsewhere(path):
			return filepath.SkipDir
		case entry.IsDir() || !isWanted(path):
			return nil
		}
		text, err := os.ReadFile(path)
		if err == nil {
			visit(path, text)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// isElsewhere reports whether a directory is not part of the repository: output of tools
// and programs, and fuzzing inputs.
func isElsewhere(directory string) bool {
	name := filepath.Base(directory)
	return slices.Contains([]string{".git", ".bin", ".cache", ".idea", ".vscode", "node_modules", "waybook-data"}, name) ||
		filepath.Base(filepath.Dir(directory)) == "testdata" && (name == "fuzz" || name == "rapid")
}

// isGenerated reports whether a file is generated from files that are checked.
func isGenerated(path string) bool {
	return strings.HasSuffix(path, ".pb.go") || strings.HasSuffix(path, ".pb.gw.go")
}

// mayCite reports whether a text has a word that each citation has. It is quicker than citation and
// absent.
func mayCite(text []byte) bool {
	return slices.ContainsFunc([]string{"ule", "DESIGN", "§", "design", "eed", "ontract"}, func(word string) bool {
		return bytes.Contains(text, []byte(word))
	})
}

// citationProblems returns the invalid citations of a text, with their lines.
func citationProblems(text []byte, isRule map[string]bool) (problems []string) {
	if !mayCite(text) {
		return nil
	}
	line := func(at int) int { return 1 + bytes.Count(text[:at], []byte("\n")) }
	for _, cited := range citation.FindAllSubmatchIndex(text, -1) {
		for _, each := range number.FindAll(text[cited[2]:cited[3]], -1) {
			if !isRule[string(each)] {
				problems = append(problems, fmt.Sprintf("%d: %s has no rule %s", line(cited[0]), casefile.ContractFile, each))
			}
		}
	}
	for _, way := range absent {
		for _, found := range way.FindAllIndex(text, -1) {
			problems = append(problems, fmt.Sprintf("%d: %q cites a document that the repository does not hold; cite a rule of %s",
				line(found[0]), text[found[0]:found[1]], casefile.ContractFile))
		}
	}
	return problems
}

func rulesOfTheContract(t *testing.T) map[string]bool {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, casefile.ContractFile))
	if err != nil {
		t.Fatal(err)
	}
	rules, err := casefile.ParseContract(casefile.ContractFile, string(text))
	if err != nil {
		t.Fatal(err)
	}
	isRule := map[string]bool{}
	for _, rule := range rules {
		isRule[rule] = true
	}
	return isRule
}

func TestAnInvalidCitationIsReported(t *testing.T) {
	isRule := map[string]bool{"4.1": true, "4.12": true, "5.3": true}
	for text, want := range map[string]string{
		"// f makes an album (rule 9.99).":                   "1: docs/contract.md has no rule 9.99",
		"one\ntwo (rules 4.1, 9.1 and 5.3)":                  "2: docs/contract.md has no rule 9.1",
		"rules 4.1, and 9.2":                                 "1: docs/contract.md has no rule 9.2",
		"Rules 4.12 to 9.3":                                  "1: docs/contract.md has no rule 9.3",
		"// as in rule\n\t// 9.4":                            "1: docs/contract.md has no rule 9.4",
		"# rules 4.1\n# and 9.5":                             "1: docs/contract.md has no rule 9.5",
		"// 128 random bits (DESIGN §4).":                    `1: "DESIGN" cites`,
		"(design §4) is a rule":                              `1: "§4" cites`,
		"*Adds two RPCs to the design's list.*":              `1: "the design's" cites`,
		"*The design has one.*":                              `1: "The design has" cites`,
		"*Departs\nfrom the design* in that":                 "1: \"Departs\\nfrom the design\" cites",
		"but for the arrows of the design:":                  `1: "of the design:" cites`,
		"wantedArrows are those of the design, of one":       `1: "of the design," cites`,
		"what the contract and the design leave open":        `1: "and the design leave" cites`,
		"An album is added (seed 4.3, 4.6)":                  `1: "seed 4.3" cites`,
		"The seed shows one `authorReply`.":                  `1: "The seed shows" cites`,
		"the legacy contract (the seed) and":                 `1: "(the seed)" cites`,
		"// as it is in\n// the seed":                        "1: \"in\\n// the seed\" cites",
		"// createAlbumRequest: contract 4.3.":               `1: "contract 4.3" cites`,
		"// \"Contract 4.3\" names a section":                `1: "Contract 4.3" cites`,
		"is obtained (contract 5).":                          `1: "contract 5" cites`,
		"The numbers are those of the legacy contract (2.6)": `1: "contract (2.6" cites`,
	} {
		if got := citationProblems([]byte(text), isRule); len(got) == 0 || !strings.HasPrefix(got[0], want) {
			t.Errorf("%q: got %q, want %s", text, got, want)
		}
	}
	for _, text := range []string{
		"// f makes an album (rule 4.12).", "rules 4.1, 4.12 and 5.3", "a rule of 9.99 kinds", "RFC 9112, 6.3",
		"each run has a seed of its own", "100 runs from seed 1 in one sitting", "a UUID that the seed makes", "for _, seed := range seeds {",
		"the seed of the run, printed on failure", "the legacy contract leaves it open", "how the design of the store came about", "redesign",
		"a contract of 4 services", "the services' contract, rule by rule",
	} {
		if got := citationProblems([]byte(text), isRule); len(got) > 0 {
			t.Errorf("%q: got %q", text, got)
		}
	}
}
