package edge

import (
	"flag"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"

	"github.com/waybook/waybook/edge/form"
	"github.com/waybook/waybook/edge/operation"
)

var update = flag.Bool("update", false, "rewrite the table of docs/failures.md")

const (
	failuresPage = "../docs/failures.md"
	// The table is between these lines.
	failuresBegin = "<!-- begin of the table of failures: go test ./edge -run TableOfFailures -update -->\n"
	failuresEnd   = "<!-- end of the table of failures -->\n"
)

func TestTheTableOfFailuresIsCurrent(t *testing.T) {
	page, err := os.ReadFile(failuresPage)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, hasBegin := strings.Cut(string(page), failuresBegin)
	shown, after, hasEnd := strings.Cut(rest, failuresEnd)
	if !hasBegin || !hasEnd {
		t.Fatalf("%s lacks the lines\n%s%s", failuresPage, failuresBegin, failuresEnd)
	}
	want := "\n" + tableOfFailures() + "\n"
	if *update {
		if err := os.WriteFile(failuresPage, []byte(before+failuresBegin+want+failuresEnd+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if shown != want {
		t.Errorf("the table in %s is stale: run go test ./edge -run TableOfFailures -update", failuresPage)
	}
}

func tableOfFailures() string {
	var b strings.Builder
	b.WriteString("| `info` | reason | when | what to do |\n| --- | --- | --- | --- |\n")
	for _, each := range Failures() {
		status := ""
		if each.Status != http.StatusOK {
			status = fmt.Sprintf("HTTP %d: ", each.Status)
		}
		fmt.Fprintf(&b, "| `%s` | `%s` | %s%s | %s |\n", each.Info, each.Reason, status, each.Meaning, each.Action)
	}
	return b.String()
}

// A reason that the edge can send is a literal of its source.
func TestEveryReasonOfTheEdgeIsInTheTable(t *testing.T) {
	notSent := map[string]bool{"CLIENT_GONE": true} // nobody is left to read it
	literal := regexp.MustCompile(`"([A-Z]+(?:_[A-Z]+)+)"`)
	found := map[string]bool{}
	err := filepath.WalkDir(".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") || path == "failures.go" {
			return err
		}
		source, err := os.ReadFile(path)
		for _, match := range literal.FindAllSubmatch(source, -1) {
			found[string(match[1])] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(found) < 35 {
		t.Errorf("found only %d reasons", len(found))
	}
	for reason := range found {
		isEntry := func(each FailureEntry) bool { return each.Reason == reason }
		if !notSent[reason] && !slices.ContainsFunc(Failures(), isEntry) {
			t.Errorf("%s is not in the table", reason)
		}
	}
	for _, each := range Failures() {
		if !found[each.Reason] && each.Reason != "CONFLICT" {
			t.Errorf("the edge never sends %s", each.Reason)
		}
		if each.Meaning == "" || each.Action == "" || !strings.Contains(each.Info, " ") && each.Reason != "CONFLICT" {
			t.Errorf("%s is not explained", each.Reason)
		}
	}
}

// docs/grpc.md lists the reasons of the services.
func TestAReasonOfAServiceIsInTheTableOrAnInternalError(t *testing.T) {
	page, err := os.ReadFile("../docs/grpc.md")
	if err != nil {
		t.Fatal(err)
	}
	var code codes.Code
	var internal []string
	for _, row := range regexp.MustCompile("(?m)^\\| (?:`([A-Z_]+)` )?\\| (`[A-Z_]+`.*?) \\|").FindAllSubmatch(page, -1) {
		if name := row[1]; name != nil {
			if err := code.UnmarshalJSON(fmt.Appendf(nil, "%q", name)); err != nil {
				t.Fatal(err)
			}
		}
		for _, reason := range regexp.MustCompile("[A-Z_]+").FindAllString(string(row[2]), -1) {
			shown := operation.FailureOf(refusedFor(code, reason), &form.Reader{}).Reason
			if !slices.ContainsFunc(Failures(), func(entry FailureEntry) bool { return entry.Reason == shown }) {
				t.Errorf("%s becomes %s, which is not in the table", reason, shown)
			}
			if shown == "INTERNAL_ERROR" {
				internal = append(internal, reason)
			}
		}
	}
	// INVALID_PARAMETER comes with the fields, which parameters feed. No operation causes the others but GONE, whose
	// repetition is the edge's own, and IDENTIFIERS_USED_UP.
	want := []string{
		"CLIENT_NOT_ALLOWED", "EMAIL_REQUIRED", "ETAG_MISMATCH",
		"GONE", "IDENTIFIERS_USED_UP", "INTERNAL", "INVALID_PARAMETER", "INVITATIONS_OFF", "METHOD_UNKNOWN",
		"SERVICE_UNKNOWN", "SESSION_NOT_FOUND", "START_ANEW", "STORE_NOT_EMBEDDED", "USER_NOT_DISABLED",
	}
	if slices.Sort(internal); !slices.Equal(internal, want) {
		t.Errorf("clients do not get %q", internal)
	}
}
