package movefile

import (
	"bytes"
	"encoding/json"
	"flag"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "rewrite docs/moving-in.schema.json and the table of allowances in docs/moving-in.md")

const (
	schemaPath = "../../docs/moving-in.schema.json"
	guidePath  = "../../docs/moving-in.md"
)

func TestTheSchemaInTheDocumentsIsThatOfTheTypes(t *testing.T) {
	want, err := schema()
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(schemaPath, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(schemaPath)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s is stale (%v): run go test ./moving/movefile -run Document -update", schemaPath, err)
	}
}

func TestTheGuideInTheDocumentsHasTheAllowances(t *testing.T) {
	text, err := os.ReadFile(guidePath)
	if err != nil {
		t.Fatal(err)
	}
	var table strings.Builder
	table.WriteString("| allowance | admits | clients see |\n| --- | --- | --- |\n")
	for _, each := range Allowances() {
		table.WriteString("| `" + string(each.Allowance) + "` | " + each.Admits + " | " + each.Seen + " |\n")
	}
	pattern := regexp.MustCompile(`\| allowance \| admits \| clients see \|\n(\|.*\n)+`)
	if !pattern.Match(text) {
		t.Fatal("the guide has no table of allowances")
	}
	if *update {
		text = pattern.ReplaceAllLiteral(text, []byte(table.String()))
		if err := os.WriteFile(guidePath, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if !strings.Contains(string(text), table.String()) {
		t.Errorf("the table in %s is stale: run go test ./moving/movefile -run Document -update", guidePath)
	}
}

// examples returns the examples of the guide: the lines of its blocks of json that have a kind.
func examples(t *testing.T) (lines [][]byte) {
	t.Helper()
	text, err := os.ReadFile(guidePath)
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(text) {
		if bytes.HasPrefix(line, []byte(`{"kind":`)) {
			lines = append(lines, bytes.TrimSpace(line))
		}
	}
	return lines
}

func zone(t *testing.T) *time.Location {
	t.Helper()
	taipei, err := time.LoadLocation("Asia/Taipei")
	if err != nil {
		t.Fatal(err)
	}
	return taipei
}

func schemaValidator(t *testing.T) *validator {
	t.Helper()
	schema, err := schema()
	if err != nil {
		t.Fatal(err)
	}
	return newValidator(t, schema)
}

func TestTheExamplesOfTheDocumentsHaveNoFaults(t *testing.T) {
	decoder, v := NewDecoder(Options{Zone: zone(t)}), schemaValidator(t)
	kinds := map[Kind]bool{}
	for _, line := range examples(t) {
		record, faults := decoder.Decode(line)
		if len(faults) > 0 || !v.accepts(line) {
			t.Errorf("%s\n%v\naccepted by the schema: %v", line, faults, v.accepts(line))
			continue
		}
		kinds[record.Kind()] = true
	}
	for _, kind := range Kinds() {
		if !kinds[kind] {
			t.Errorf("there is no example of a %s", kind)
		}
	}
}

// odd are values that every field gets in place of its own.
var odd = []string{
	`null`, `""`, `"x"`, `" "`, `0`, `1`, `-1`, `1.5`, `17`, `99999`, `1e400`, `true`, `{}`, `[]`, `"0_8"`, `"晴空萬里"`, `"2008-02-29"`,
	`"2008-03-05 09:07:31"`, `"2008-03-05T09:07:31Z"`, `9007199254740992`, `"12"`, `"012"`, `"0123456789abcdef0123456789abcdef"`,
	`"` + strings.Repeat("長", 201) + `"`, `"` + strings.Repeat("x", 2001) + `"`, `[{"description":"a"},{"description":"b","votes":3}]`,
	`{"description":"q","choices":[{"description":"a"}]}`, `{"description":"q","choices":[{"description":"a"},{"description":"b","x":1}]}`,
}

// The schema cannot say some things, such as that a day exists; what it refuses, the program must
// refuse, and what it accepts, the program refuses only for a reason of that kind.
func TestTheSchemaAndTheProgramRefuseTheSame(t *testing.T) {
	decoder, v := NewDecoder(Options{Zone: zone(t)}), schemaValidator(t)
	count := 0
	for _, line := range examples(t) {
		var fields map[string]json.RawMessage
		if err := json.Unmarshal(line, &fields); err != nil {
			t.Fatal(err)
		}
		names := append(slices.Collect(maps.Keys(fields)), "nothing", "parent_id")
		for _, f := range decoder.plans[Kind(strings.Trim(string(fields["kind"]), `"`))].fields {
			names = append(names, f.name)
		}
		for _, name := range names {
			for _, value := range append(odd, "") {
				changed := maps.Clone(fields)
				if changed[name] = json.RawMessage(value); value == "" {
					delete(changed, name)
				}
				text, err := json.Marshal(changed)
				if err != nil {
					continue // no JSON
				}
				_, faults := decoder.Decode(text)
				count++
				isUnsaid := slices.ContainsFunc(faults, func(f Fault) bool { return beyondSchema(f) })
				if accepted := v.accepts(text); accepted != (len(faults) == 0) && !(accepted && isUnsaid) {
					t.Errorf("the schema accepts it: %v; faults: %v\n%.300s", accepted, faults, text)
				}
			}
		}
	}
	if count < 1000 {
		t.Errorf("only %d records were tried", count)
	}
}

// beyondSchema reports whether no schema finds a fault.
func beyondSchema(f Fault) bool {
	switch {
	case f.Class == Conflict, f.Class == Blank, f.Class == Characters:
		return true
	case f.Class == Missing && f.Field == "author_id":
		return true
	case f.Class == WrongType && (strings.Contains(f.Text, "no time") || strings.Contains(f.Text, "no day") || strings.Contains(f.Text, "no identifier")):
		return true
	}
	return false
}
