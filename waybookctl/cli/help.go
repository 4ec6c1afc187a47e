package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/waybook/waybook/internal/platform/buildinfo"
	"github.com/waybook/waybook/internal/platform/settings"
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

type versionFlag bool

func (versionFlag) BeforeReset(app *kong.Kong) error {
	if _, err := fmt.Fprintln(app.Stdout, buildinfo.Read().Line(name)); err != nil {
		return err
	}
	return errAnswered
}

type versionCommand struct{}

func (versionCommand) Run(parser *kong.Kong) error { return versionFlag(true).BeforeReset(parser) }

type helpCommand struct {
	Command []string `arg:"" optional:"" help:"Words of the command."`
}

func (c *helpCommand) Run(parser *kong.Kong) error {
	_, err := parser.Parse(append(c.Command, "--help"))
	return (&environment{}).blame(err)
}

// commonGroup is the group of the flags that all commands have.
const commonGroup = "common"

// helpOf returns the help of a flag or an argument, with its allowed words and its environment
// variable, which the heading of the common flags explains.
func helpOf(value *kong.Value) string {
	help := value.Help
	if words := wordsFor(value); len(words) > 0 {
		help += " One of " + strings.Join(words, ", ") + "."
	}
	if variable := envName(value.Flag); variable != "" &&
		(value.Flag.Group == nil || value.Flag.Group.Key != commonGroup) {
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

// environment resolves flags that are not given from environment variables.
type environment struct {
	lookup func(string) (string, bool)
	// used are the flags whose values are from there.
	used []*kong.Flag
}

// Validate accepts everything: the values are checked like those of flags.
func (e *environment) Validate(*kong.Application) error { return nil }

// Resolve looks up a flag's environment variable.
func (e *environment) Resolve(_ *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
	value, ok := "", false
	if variable := envName(flag); variable != "" {
		value, ok = e.lookup(variable)
	}
	if !ok {
		return nil, nil
	}
	e.used = append(e.used, flag)
	return settings.Trim(value), nil
}

// blame adds which flags that an invalid command line may concern got their values from the
// environment.
func (e *environment) blame(err error) error {
	var twins []string
	for _, flag := range e.used {
		if twin := "--" + flag.Name + " is set by " + envName(flag) +
			" in the environment"; strings.Contains(err.Error(), "--"+flag.Name) && !slices.Contains(twins, twin) {
			twins = append(twins, twin)
		}
	}
	var parse *kong.ParseError
	switch {
	case errors.As(err, &parse):
		return &commandLineError{ParseError: parse, twins: twins}
	case len(twins) > 0:
		return usageError(err.Error() + "; " + strings.Join(twins, "; "))
	}
	return err
}

// commandLineError is a command line that kong rejects.
type commandLineError struct {
	*kong.ParseError
	twins []string
}

// Error leaves out an argument that a command does not take, which may be a password.
func (e *commandLineError) Error() string {
	text := e.ParseError.Error()
	if selected := e.Context.Selected(); selected != nil && selected.Leaf() &&
		strings.HasPrefix(text, "unexpected argument ") {
		return "too many arguments for " + selected.FullPath()
	}
	return text
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
