package golden

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/waybook/waybook/edge"
	"github.com/waybook/waybook/edge/operation"
)

func TestEveryOperationHasACase(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(caseDirectory, "*.txt"))
	if err != nil {
		t.Fatal(err)
	}
	// The parameters of a request are indented lines. A reply that names no reason succeeds.
	form := regexp.MustCompile(`(?m)(?:^  \w+=.*\n)+^reply\n`)
	tried := map[string]bool{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, sent := range form.FindAllString(string(text), -1) {
			_, rest, _ := strings.Cut("\n"+sent, "\n  func=")
			name, _, _ := strings.Cut(rest, "\n")
			if strings.Contains("\n"+sent, "\n  delete=true\n") {
				name += " with delete=true"
			}
			tried[name] = true
		}
	}
	if count := len(edge.Operations()); count < 14 {
		t.Fatalf("the table has only %d operations", count)
	}
	for _, each := range edge.Operations() {
		name := each.Func
		if each.Variant == operation.Deleting {
			name += " with delete=true"
		}
		if !tried[name] {
			t.Errorf("%s has no case", name)
		}
	}
}
