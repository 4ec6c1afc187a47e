package cli

import (
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

var update = flag.Bool("update", false, "rewrite the reference, and the exit statuses of docs/waybookctl.md")

// guide is the page of waybookctl, whose table of exit statuses begins with statusHead. reference has all commands.
const (
	guide      = "../../docs/waybookctl.md"
	statusHead = "| status | meaning |\n| --- | --- |\n"
	reference  = "testdata/reference.md"
)

func TestTheReferenceMatchesTheCommands(t *testing.T) {
	parser, err := newParser(new(commands), Streams{strings.NewReader(""), io.Discard, io.Discard}, &environment{lookup: noEnvironment})
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(guide)
	if err != nil {
		t.Fatal(err)
	}
	before, table, isFound := strings.Cut(string(page), statusHead)
	_, after, isEnded := strings.Cut(table, "\n\n")
	if !isFound || !isEnded {
		t.Fatalf("%s lacks %q", guide, statusHead)
	}
	statuses := ""
	for _, each := range exitStatuses {
		statuses += fmt.Sprintf("| %d | %s |\n", each.status, each.meaning)
	}
	for file, want := range map[string]string{
		guide: before + statusHead + statuses + "\n" + after, reference: referenceOf(parser.Model),
	} {
		if *update {
			if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := os.ReadFile(file); err != nil || string(got) != want {
			t.Errorf("%s is stale: run go test ./waybookctl/cli -run Reference -update; %v", file, err)
		}
	}
}

// referenceOf returns the reference of all commands, as Markdown. --help of each command says more.
func referenceOf(model *kong.Application) string {
	var page strings.Builder
	page.WriteString("| flag of all commands | meaning |\n| --- | --- |\n")
	for _, flag := range model.Flags {
		fmt.Fprintf(&page, "| `%s` | %s |\n", flag.String(), helpOf(flag.Value))
	}
	page.WriteString("\n| command | what it does | flags |\n| --- | --- | --- |\n")
	for _, command := range model.Leaves(true) {
		fmt.Fprintf(&page, "| `%s` | %s | %s |\n", usageOf(command), command.Help, flagNames(command))
	}
	return page.String()
}

// usageOf returns a command's line with its arguments and required flags.
func usageOf(command *kong.Node) string {
	words := []string{strings.TrimPrefix(command.FullPath(), name+" ")}
	for _, argument := range command.Positional {
		words = append(words, argument.Summary())
	}
	for _, flag := range command.Flags {
		if flag.Required && len(flag.Xor) == 0 {
			words = append(words, flag.String())
		}
	}
	return strings.Join(words, " ")
}

// flagNames returns the names of a command's own flags.
func flagNames(command *kong.Node) string {
	var names []string
	for _, flag := range command.Flags {
		names = append(names, "`--"+flag.Name+"`")
	}
	return strings.Join(names, ", ")
}
