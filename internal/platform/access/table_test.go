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

// table returns a Markdown table with the methods of each service, by the identities that may call them.
func table(rules Rules) string {
	type row struct {
		service, callers string
		methods          []string
	}
	var rows []*row
	for _, rule := range rules {
		service, method, _ := strings.Cut(strings.TrimPrefix(rule.Method, "/"), "/")
		service = service[strings.LastIndexByte(service, '.')+1:]
		callers := "none"
		if len(rule.Callers) > 0 {
			callers = "`" + strings.Join(rule.Callers, "`, `") + "`"
		}
		i := slices.IndexFunc(rows, func(r *row) bool { return r.service == service && r.callers == callers })
		if i < 0 {
			i = len(rows)
			rows = append(rows, &row{service: service, callers: callers})
		}
		rows[i].methods = append(rows[i].methods, "`"+method+"`")
	}
	slices.SortStableFunc(rows, func(a, b *row) int { return strings.Compare(a.service, b.service) })
	var b strings.Builder
	b.WriteString("| service | callers besides `operator` | methods |\n| --- | --- | --- |\n")
	for _, r := range rows {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", r.service, r.callers, strings.Join(r.methods, ", "))
	}
	return b.String()
}
