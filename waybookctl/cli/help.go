package cli

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/waybook/waybook/internal/platform/buildinfo"
	"github.com/waybook/waybook/internal/platform/settings"
	"github.com/waybook/waybook/waybookctl/completion"
)

// errAnswered ends a command line that asked for help or the version.
var errAnswered = errors.New("the command line was answered")

// helpFlag is --help. Kong's own flag ends the process, and with it a test.
type helpFlag bool

// BeforeReset prints the help of the command parsed so far.
func (helpFlag) BeforeReset(ctx *kong.Context) error {
	if err := ctx.PrintUsage(false); err != nil {
		return err
	}
	return errAnswered
}

// versionFlag is --version.
type versionFlag bool

// BeforeReset prints the version.
func (versionFlag) BeforeReset(app *kong.Kong) error {
	if _, err := fmt.Fprintln(app.Stdout, buildinfo.Read().Line(name)); err != nil {
		return err
	}
	return errAnswered
}

// versionCommand is the word version.
type versionCommand struct{}

// Run prints the version.
func (versionCommand) Run(parser *kong.Kong) error { return versionFlag(true).BeforeReset(parser) }

// helpCommand is the word help.
type helpCommand struct {
	Command []string `arg:"" optional:"" help:"Words of the command."`
}

// Run prints the help of a command.
func (c *helpCommand) Run(parser *kong.Kong) error {
	_, err := parser.Parse(append(c.Command, "--help"))
	return (&environment{}).blame(err)
}

// helpOf returns the help of a flag or an argument, with its allowed words and its environment
// variable.
func helpOf(value *kong.Value) string {
	help := value.Help
	if words := completion.Words(value); len(words) > 0 {
		help += " One of " + strings.Join(words, ", ") + "."
	}
	if variable := envName(value.Flag); variable != "" {
		help += " In the environment: " + variable + "."
	}
	return help
}

// envName returns the environment variable of a flag: WAYBOOK_ALBUM for --album. It is empty for
// flags whose tag lacks twin:"".
func envName(flag *kong.Flag) string {
	if flag == nil || !flag.Tag.Has("twin") {
		return ""
	}
	return settings.EnvName(flag.Name)
}

// environment resolves flags that are not given: from environment variables, then from the context.
type environment struct {
	lookup   func(string) (string, bool)
	contexts *contexts
	// used says where the values of flags are from.
	used map[*kong.Flag]string
}

// Validate accepts everything: the values are checked like those of flags.
func (e *environment) Validate(*kong.Application) error { return nil }

// Resolve looks up a flag's environment variable, and the flag in the context.
func (e *environment) Resolve(line *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
	variable := envName(flag)
	if variable == "" {
		return nil, nil
	}
	if e.used == nil {
		e.used = map[*kong.Flag]string{}
	}
	if value, ok := e.lookup(variable); ok {
		e.used[flag] = variable + " in the environment"
		return settings.Trim(value), nil
	}
	if value, context := e.contexts.valueOf(flag, e.contextOf(line)); value != "" {
		e.used[flag] = "the context " + context
		return value, nil
	}
	return nil, nil
}

// contextOf returns the context that --context or its environment variable names.
func (e *environment) contextOf(line *kong.Context) string {
	for _, each := range line.Path {
		if each.Flag != nil && each.Flag.Name == contextFlag {
			name, _ := line.FlagValue(each.Flag).(string)
			return name
		}
	}
	name, _ := e.lookup(settings.EnvName(contextFlag))
	return name
}

// blame adds where the flags that an error may concern got their values.
func (e *environment) blame(err error) error {
	var parse *kong.ParseError
	if !errors.As(err, &parse) {
		return err
	}
	wrong := &commandLineError{ParseError: parse}
	for flag, source := range e.used {
		if strings.Contains(parse.Error(), "--"+flag.Name) {
			wrong.twins = append(wrong.twins, "--"+flag.Name+" is set by "+source)
		}
	}
	return wrong
}

// commandLineError is a command line that kong rejects.
type commandLineError struct {
	*kong.ParseError
	twins []string
}

// Unwrap returns the cause, which may be errAnswered.
func (e *commandLineError) Unwrap() error { return e.ParseError.Unwrap() }

// help names the command that prints the right usage.
func (e *commandLineError) help() string {
	if selected := e.Context.Selected(); selected != nil {
		return "see " + selected.FullPath() + " --help"
	}
	return "see " + name + " --help"
}

type completionCommands struct {
	Bash printScript `cmd:"" help:"Print the script for bash: source <(waybookctl completion bash)."`
	Zsh  printScript `cmd:"" help:"Print the script for zsh: source <(waybookctl completion zsh)."`
	Fish printScript `cmd:"" help:"Print the script for fish: waybookctl completion fish | source."`
}

// printScript prints the script for the shell that the command names.
type printScript struct{}

// Run prints the script.
func (printScript) Run(parser *kong.Kong, line *kong.Context) error {
	script, err := completion.Script(line.Selected().Name)
	if err != nil {
		return err
	}
	_, err = io.WriteString(parser.Stdout, script)
	return err
}

// completeWords prints completion candidates for the scripts.
type completeWords struct {
	Words []string `arg:"" optional:"" help:"The words after the program's name; the last one is completed."`
}

// Run prints a line for each candidate: the word, a tab, and its help.
func (c *completeWords) Run(parser *kong.Kong) error {
	words := c.Words
	if len(words) > 0 && words[0] == "--" {
		words = words[1:]
	}
	for _, candidate := range completion.Candidates(parser.Model, words) {
		if _, err := fmt.Fprintf(parser.Stdout, "%s\t%s\n", candidate.Word, candidate.Help); err != nil {
			return err
		}
	}
	return nil
}
