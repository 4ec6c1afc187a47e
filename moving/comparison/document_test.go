package comparison

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the table of rules in docs/moving-in.md")

// guide is the path of the document that explains the rules.
const guide = "../../docs/moving-in.md"

func TestTheGuideHasTheRules(t *testing.T) {
	text, err := os.ReadFile(guide)
	if err != nil {
		t.Fatal(err)
	}
	var table strings.Builder
	table.WriteString("| rule | allows | still reports |\n| --- | --- | --- |\n")
	for _, each := range Rules() {
		fmt.Fprintf(&table, "| `%s` | %s | %s |\n", each.Name, each.Forgives, each.Sees)
	}
	pattern := regexp.MustCompile(`\| rule \| allows \| still reports \|\n(\|.*\n)+`)
	if !pattern.Match(text) {
		t.Fatal("the guide has no table of rules")
	}
	if *update {
		text = pattern.ReplaceAllLiteral(text, []byte(table.String()))
		if err := os.WriteFile(guide, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if !strings.Contains(string(text), table.String()) {
		t.Errorf("the table of rules in %s is stale: run go test ./moving/comparison -run Guide -update", guide)
	}
}
