package cli

import (
	"cmp"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"github.com/waybook/waybook/waybookctl/completion"
)

var update = flag.Bool("update", false, "rewrite docs/waybookctl.md")

// referencePath is the path of the page of waybookctl. Its part from generated on is written by the test.
const referencePath, generated = "../../docs/waybookctl.md", "## Flags of all commands\n"

// statusHead is the head of the table of exit statuses, which the test writes too.
const statusHead = "| status | meaning |\n| --- | --- |\n"

func TestTheReferenceMatchesTheCommands(t *testing.T) {
	parser, err := newParser(new(commands), Streams{strings.NewReader(""), io.Discard, io.Discard}, &environment{lookup: noEnvironment}, nil)
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

// referenceOf returns the reference of all commands, as Markdown.
func referenceOf(model *kong.Application) string {
	page := &reference{program: model.Name + " "}
	page.add("%s", generated)
	var common parameters
	for _, flag := range model.Flags {
		common.flag("", flag)
	}
	page.parameters("flag", common)
	for _, noun := range model.Children {
		if !noun.Hidden {
			page.noun(noun)
		}
	}
	return strings.TrimRight(page.text.String(), "\n") + "\n"
}

type reference struct {
	text strings.Builder
	// program is what the path of each command begins with.
	program string
}

func (p *reference) add(format string, args ...any) { fmt.Fprintf(&p.text, format+"\n", args...) }

// noun writes the commands of a noun: a row for each, a row for each of their arguments and flags,
// and what else there is to say of a command.
func (p *reference) noun(noun *kong.Node) {
	p.add("## %s\n", noun.Name)
	commands := noun.Leaves(true)
	if noun.Leaf() {
		commands = []*kong.Node{noun} // a command without a noun documents itself
	} else {
		p.add("%s\n", noun.Help)
	}
	p.add("| command | what it does | flags |\n| --- | --- | --- |")
	var arguments, flags parameters
	for _, command := range commands {
		p.add("| `%s` | %s | %s |", p.usage(command), cell(command.Help), flagNames(command))
		name := strings.TrimPrefix(p.path(command), noun.Name+" ")
		for _, argument := range command.Positional {
			arguments.add(name, argument.Summary(), argument.Help+oneOf(argument))
		}
		for _, flag := range command.Flags {
			flags.flag(name, flag)
		}
	}
	p.add("")
	p.parameters("argument or flag", append(arguments, flags...))
	p.details(commands)
}

// details writes what else there is to say of commands, once if it is the same of several.
func (p *reference) details(commands []*kong.Node) {
	written := map[string]bool{"": true}
	for i, command := range commands {
		if written[command.Detail] {
			continue
		}
		written[command.Detail] = true
		var names []string
		for _, other := range commands[i:] {
			if other.Detail == command.Detail {
				names = append(names, p.path(other))
			}
		}
		p.add("### %s\n\n%s\n", strings.Join(names, ", "), command.Detail)
	}
}

func (p *reference) path(command *kong.Node) string {
	return strings.TrimPrefix(command.FullPath(), p.program)
}

// usage returns a command's line with its arguments and required flags.
func (p *reference) usage(command *kong.Node) string {
	words := []string{p.path(command)}
	for _, argument := range command.Positional {
		words = append(words, argument.Summary())
	}
	for _, flag := range command.Flags {
		if flag.Required {
			words = append(words, "--"+flag.Name+"="+flag.FormatPlaceHolder())
		}
	}
	return cell(strings.Join(words, " "))
}

// flagNames returns the names of a command's own flags.
func flagNames(command *kong.Node) string {
	var names []string
	for _, flag := range command.Flags {
		if !flag.Hidden {
			names = append(names, "`--"+flag.Name+"`")
		}
	}
	return strings.Join(names, ", ")
}

// parameters writes a row for each argument and flag. A name that means several things says of which
// commands it is.
func (p *reference) parameters(title string, all parameters) {
	if len(all) == 0 {
		return
	}
	p.add("| %s | meaning |\n| --- | --- |", title)
	meanings, first := map[string]int{}, map[string]int{}
	for i, each := range all {
		if meanings[each.name]++; meanings[each.name] == 1 {
			first[each.name] = i
		}
	}
	slices.SortStableFunc(all, func(a, b parameter) int { return cmp.Compare(first[a.name], first[b.name]) })
	for _, each := range all {
		of := ""
		if meanings[each.name] > 1 {
			of = " of " + strings.Join(each.commands, ", ")
		}
		p.add("| `%s`%s | %s |", cell(each.name), of, cell(each.help))
	}
	p.add("")
}

// parameter is an argument or a flag, which several commands may share.
type parameter struct {
	name, help string
	commands   []string
}

type parameters []parameter

// add notes that a command has a parameter.
func (all *parameters) add(command, name, help string) {
	for i := range *all {
		if each := &(*all)[i]; each.name == name && each.help == help {
			each.commands = append(each.commands, command)
			return
		}
	}
	*all = append(*all, parameter{name, help, []string{command}})
}

// flag adds a flag with its values and its environment variable.
func (all *parameters) flag(command string, flag *kong.Flag) {
	if flag.Hidden {
		return
	}
	help := flag.Help + oneOf(flag.Value)
	if variable := envName(flag); variable != "" {
		help += " In the environment: `" + variable + "`."
	}
	all.add(command, flag.String(), help)
}

func oneOf(value *kong.Value) string {
	words := completion.Words(value)
	if len(words) == 0 {
		return ""
	}
	return " One of `" + strings.Join(words, "`, `") + "`."
}

// cell returns a text for a cell of a table.
func cell(text string) string { return strings.ReplaceAll(text, "|", `\|`) }
