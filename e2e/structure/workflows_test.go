package structure_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// What a workflow of GitHub may do, and whose code it runs, is written in it.
func TestWorkflowsDeclareTheirRightsAndRunOnlyPinnedActions(t *testing.T) {
	files, err := filepath.Glob("../../.github/workflows/*.yaml")
	if err != nil || len(files) < 3 {
		t.Fatalf("the workflows are %v, %v", files, err)
	}
	guide, err := os.ReadFile("../../CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	version := regexp.MustCompile(`You need Go (\S+)`).FindSubmatch(guide)
	if version == nil {
		t.Fatal("CONTRIBUTING.md names no version of Go")
	}
	pinned := regexp.MustCompile(`uses: \S+@[0-9a-f]{40}( |$)`)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !regexp.MustCompile(`(?m)^permissions:( \{\}|\n  contents: read)$`).Match(text) {
			t.Errorf("%s: a workflow may read, and a job says what else it may", file)
		}
		if !strings.Contains(string(text), "GOTOOLCHAIN: go"+string(version[1])+"\n") {
			t.Errorf("%s: Go is not %s, as in CONTRIBUTING.md", file, version[1])
		}
		for line := range strings.Lines(string(text)) {
			if strings.Contains(line, "uses:") && !pinned.MatchString(strings.TrimRight(line, "\n")) {
				t.Errorf("%s: an action is not pinned by the hash of its commit: %s", file, line)
			}
		}
	}
}
