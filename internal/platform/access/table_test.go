package access

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the table of SECURITY.md")

const (
	// page is the document with the table.
	page = "../../../SECURITY.md"
	// The table is between these lines.
	tableBegin = "<!-- begin of the table of callers: go test ./internal/platform/access -run Table -update -->\n"
	tableEnd   = "<!-- end of the table of callers -->\n"
)

func TestTheTableOfCallersInSecurityIsCurrent(t *testing.T) {
	content, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, hasBegin := strings.Cut(string(content), tableBegin)
	shown, after, hasEnd := strings.Cut(rest, tableEnd)
	if !hasBegin || !hasEnd {
		t.Fatalf("%s lacks the lines\n%s%s", page, tableBegin, tableEnd)
	}
	want := "\n" + table(contracts(t)) + "\n"
	if *update {
		if err := os.WriteFile(page, []byte(before+tableBegin+want+tableEnd+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if shown != want {
		t.Errorf("the table of callers in %s is stale: run go test ./internal/platform/access -run Table -update", page)
	}
}

// table returns a Markdown table of methods and identities.
func table(rules *Rules) string {
	identities := rules.Identities()
	var b strings.Builder
	fmt.Fprintf(&b, "| method | %s |\n|%s\n", strings.Join(identities, " | "), strings.Repeat(" --- |", len(identities)+1))
	for _, rule := range rules.All() {
		service, method, _ := strings.Cut(strings.TrimPrefix(rule.Method, "/"), "/")
		service = service[strings.LastIndexByte(service, '.')+1:]
		fmt.Fprintf(&b, "| `%s/%s` |", service, method)
		for _, identity := range identities {
			cell := "  "
			if identity == Operator || slices.Contains(rule.Callers, identity) {
				cell = " yes "
			}
			b.WriteString(strings.ReplaceAll(cell, "  ", " ") + "|")
		}
		b.WriteByte('\n')
	}
	return b.String()
}
