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

var update = flag.Bool("update", false, "rewrite docs/waybookctl.md")

// referencePath is the path of the page of waybookctl. Its part from generated on is written by the test.
const referencePath, generated = "../../docs/waybookctl.md", "## Commands and flags\n"

// statusHead is the head of the table of exit statuses, which the test writes too.
const statusHead = "| status | meaning |\n| --- | --- |\n"

func TestTheReferenceMatchesTheCommands(t *testing.T) {
	parser, err := newParser(new(commands), Streams{strings.NewReader(""), io.Discard, io.Discard}, &environment{lookup: noEnvironment})
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(referencePath)
	if err != nil {
		t.Fatal(err)
	}
	intro, _, isFound := strings.Cut(string(got), generated)
	if !isFound {
		t.Fatalf("%s lacks %q", referencePath, generated)
	}
	before, table, isFound := strings.Cut(intro, statusHead)
	_, after, isEnded := strings.Cut(table, "\n\n")
	if !isFound || !isEnded {
		t.Fatalf("%s lacks %q", referencePath, statusHead)
	}
	want := before + statusHead
	for _, each := range exitStatuses {
		want += fmt.Sprintf("| %d | %s |\n", each.status, each.meaning)
	}
	want += "\n" + after + referenceOf(parser.Model)
	if *update {
		if err := os.WriteFile(referencePath, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if string(got) != want {
		t.Errorf("%s is stale: run go test ./waybookctl/cli -run Reference -update", referencePath)
	}
}

// referenceOf returns the reference of all commands, as Markdown. --help of each command says more.
func referenceOf(model *kong.Application) string {
	var page strings.Builder
	page.WriteString(generated + "\n| flag of all commands | meaning |\n| --- | --- |\n")
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
