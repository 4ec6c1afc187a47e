// Package reference writes the reference of a tree of commands, as Markdown.
package reference

import (
	_ "embed"
	"fmt"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/waybook/waybook/waybookctl/completion"
)

//go:embed intro.md
var intro string

// Page returns the reference of all commands. envName returns the environment variable of a flag,
// or "".
func Page(model *kong.Application, envName func(*kong.Flag) string) string {
	page := &page{envName: envName}
	page.add("# %s\n\n%s", model.Name, intro)
	page.add("## Flags of all commands\n")
	page.flags(model.Flags)
	for _, noun := range model.Children {
		if noun.Hidden {
			continue
		}
		page.add("## %s\n\n%s\n", noun.Name, noun.Help)
		if noun.Leaf() {
			page.command(noun) // a command without a noun documents itself
		}
		for _, leaf := range noun.Leaves(true) {
			page.command(leaf)
		}
	}
	return strings.TrimRight(page.text.String(), "\n") + "\n"
}

type page struct {
	text    strings.Builder
	envName func(*kong.Flag) string
}

func (p *page) add(format string, args ...any) { fmt.Fprintf(&p.text, format+"\n", args...) }

// command writes the reference of one command: its usage, its purpose and its parameters.
func (p *page) command(command *kong.Node) {
	p.add("### %s\n\n%s\n", command.FullPath(), command.Help)
	p.add("    %s\n", usage(command))
	if command.Detail != "" {
		p.add("%s\n", command.Detail)
	}
	for _, argument := range command.Positional {
		p.add("- `%s`: %s%s", argument.Summary(), argument.Help, oneOf(argument))
	}
	p.flags(command.Flags)
	if len(command.Positional) > 0 && len(command.Flags) == 0 {
		p.add("")
	}
}

// usage returns a command's line with its arguments and required flags.
func usage(command *kong.Node) string {
	words := []string{command.FullPath()}
	for _, argument := range command.Positional {
		words = append(words, argument.Summary())
	}
	for _, flag := range command.Flags {
		if flag.Required {
			words = append(words, "--"+flag.Name+"="+flag.FormatPlaceHolder())
		}
	}
	return strings.Join(words, " ")
}

// flags writes a line for each flag.
func (p *page) flags(flags []*kong.Flag) {
	for _, flag := range flags {
		if flag.Hidden {
			continue
		}
		help := flag.Help + oneOf(flag.Value)
		if variable := p.envName(flag); variable != "" {
			help += " In the environment: `" + variable + "`."
		}
		p.add("- `%s`: %s", flag.String(), help)
	}
	if len(flags) > 0 {
		p.add("")
	}
}

func oneOf(value *kong.Value) string {
	words := completion.Words(value)
	if len(words) == 0 {
		return ""
	}
	return " One of `" + strings.Join(words, "`, `") + "`."
}
