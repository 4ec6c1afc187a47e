package operation

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// The tables of operations in docs/contract.md are items of rules 1.3 and 17.1.
func TestTheTablesOfOperationsAreCurrent(t *testing.T) {
	const path = "../../docs/contract.md"
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	page := string(text)
	for name, isAddition := range map[string]bool{"operations": false, "additions": true} {
		begin := "  <!-- begin of the table of " + name + ": tools/update -->\n\n"
		end := "\n  <!-- end of the table of " + name + " -->\n"
		before, rest, hasBegin := strings.Cut(page, begin)
		shown, after, hasEnd := strings.Cut(rest, end)
		if !hasBegin || !hasEnd {
			t.Fatalf("%s lacks the lines\n%s%s", path, begin, end)
		}
		want := tableOfOperations(t, page, isAddition)
		if shown != want && !*update {
			t.Errorf("the table of %s in %s is stale: run tools/update", name, path)
		}
		page = before + begin + want + end + after
	}
	if *update {
		if err := os.WriteFile(path, []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func tableOfOperations(t *testing.T, page string, isAddition bool) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("  | Operation | Method | `func` | Login | Rule |\n  | --- | --- | --- | --- | --- |\n")
	for _, f := range newTable() {
		if f.IsAddition != isAddition {
			continue
		}
		for i := range f.Operations {
			o := &f.Operations[i]
			if i > 0 && o.Rule == "" {
				continue // a variant of the row before
			}
			d := f.describe(o)
			if !strings.Contains(page, "\n- **"+d.Rule+"** (") {
				t.Errorf("docs/contract.md has no rule %s, which %s names", d.Rule, f.Name)
			}
			does, function := f.Title[0], "`"+f.Name+"`"
			if o.Rule != "" {
				does, function = o.Title[0], function+" with `"+o.Variant.Flag().Name+"=true`"
			}
			does = strings.ReplaceAll(strings.ToLower(does[:1])+does[1:], "’", "'")
			method := map[Effect]string{Reads: "GET", Writes: "POST"}[d.Effect]
			login := map[bool]string{true: "yes", false: "no"}[d.NeedsLogin]
			fmt.Fprintf(&b, "  | %s | %s | %s | %s | %s |\n", does, method, function, login, d.Rule)
		}
	}
	return b.String()
}
