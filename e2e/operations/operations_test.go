package operations_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/waybook/waybook/e2e/launch"
)

func readDoc(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile("../../docs/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func TestEachAlertHasASectionAndEachSectionAnAlert(t *testing.T) {
	t.Parallel()
	page := readDoc(t, "operations.md")
	var sections []string
	for _, heading := range regexp.MustCompile(`(?m)^### (Waybook\w+)\n\n\*\*Means:\*\* (?s:.*?)\n\*\*Look at:\*\* (?s:.*?)\n\*\*Do:\*\* `).FindAllStringSubmatch(page, -1) {
		sections = append(sections, heading[1])
	}
	var alerts []string
	for _, a := range readAlerts(t) {
		alerts = append(alerts, a.Alert)
	}
	if !slices.Equal(sections, alerts) {
		t.Errorf("the sections are\n%v\nand the alerts\n%v", sections, alerts)
	}
	for _, name := range regexp.MustCompile(`\bWaybook[A-Z]\w+`).FindAllString(page, -1) {
		if !slices.Contains(alerts, name) {
			t.Errorf("%s is not an alert", name)
		}
	}
}

// A test of waybookctl compares the reference with the commands.
func TestTheCommandsInTheOperatorsGuideExist(t *testing.T) {
	t.Parallel()
	reference := readDoc(t, "../waybookctl/cli/testdata/reference.md")
	common, _, _ := strings.Cut(reference, "\n| command |")
	commands := 0
	for _, line := range commandLines(t, "waybookctl") {
		words := strings.Fields(line)[1:]
		if len(words) == 0 {
			continue // the program itself
		}
		// A command is a row of a table, with the names of its flags.
		var row string
		for _, name := range []string{strings.Join(words[:min(2, len(words))], " "), words[0]} {
			if row = regexp.MustCompile("\n\\| `" + regexp.QuoteMeta(name) + "(?:`| [^a-z]).*").FindString(reference); row != "" {
				break
			}
		}
		if row == "" {
			t.Errorf("there is no command %q", line)
			continue
		}
		commands++
		for _, flag := range regexp.MustCompile(`\s(--[a-z-]+)`).FindAllStringSubmatch(line, -1) {
			if !regexp.MustCompile(flag[1] + `[=` + "`" + `]`).MatchString(row + common) {
				t.Errorf("%q: there is no flag %s", line, flag[1])
			}
		}
	}
	if commands < 10 {
		t.Errorf("only %d commands", commands)
	}
}

func TestTheFlagsInTheOperatorsGuideExist(t *testing.T) {
	t.Parallel()
	var known strings.Builder
	for _, program := range append(launch.Programs(), "standalone") {
		help, err := exec.CommandContext(t.Context(), filepath.Join(binaries, filepath.Base(program)), "-help").CombinedOutput()
		if err != nil {
			t.Fatalf("%s -help: %v\n%s", program, err, help)
		}
		known.Write(help)
	}
	exists := func(flag string) bool {
		return regexp.MustCompile(`(?m)^ *-` + flag + `\b`).MatchString(known.String())
	}
	var flags []string
	for _, line := range append(commandLines(t, "standalone"), commandLines(t, "-[a-z]")...) {
		for _, flag := range regexp.MustCompile(`(?:^|\s)-([a-z][a-z-]*)`).FindAllStringSubmatch(line, -1) {
			flags = append(flags, flag[1])
		}
	}
	for _, name := range regexp.MustCompile(`\bWAYBOOK_([A-Z_]+)=`).FindAllStringSubmatch(readDoc(t, "operations.md"), -1) {
		if name[1] != "LONG" { // that of tests
			flags = append(flags, strings.ToLower(strings.ReplaceAll(name[1], "_", "-")))
		}
	}
	if len(flags) < 15 || exists("dta") {
		t.Errorf("only %d flags", len(flags))
	}
	for _, flag := range flags {
		if !exists(flag) {
			t.Errorf("no program has a flag -%s", flag)
		}
	}
}

// commandLines returns the code in the page with some beginning: text between backticks, and
// indented lines.
func commandLines(t *testing.T, beginning string) (lines []string) {
	t.Helper()
	page := readDoc(t, "operations.md")
	for _, pattern := range []string{"`(" + beginning + "[^`]*)`", `(?m)^    (` + beginning + ` .*)$`} {
		for _, found := range regexp.MustCompile(pattern).FindAllStringSubmatch(page, -1) {
			lines = append(lines, found[1])
		}
	}
	return lines
}
