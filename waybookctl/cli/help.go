package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/waybook/waybook/internal/platform/buildinfo"
	"github.com/waybook/waybook/waybookctl/completion"
)

// errAnswered ends a command line that asked for help or the version.
var errAnswered = errors.New("the command line was answered")

// helpFlag is --help. Kong's own ends the process, which a test does not survive.
type helpFlag bool

// BeforeReset prints the help of the command that was named so far.
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

// helpOf is the help of a flag or an argument, with all that it may be and its twin in
// the environment.
func helpOf(value *kong.Value) string {
	help := value.Help
	if words := completion.Words(value); len(words) > 0 {
		help += " One of " + strings.Join(words, ", ") + "."
	}
	if variable := EnvName(value.Flag); variable != "" {
		help += " In the environment: " + variable + "."
	}
	return help
}

// EnvName is the environment twin of a flag: that of --album is WAYBOOK_ALBUM. Flags
// have one when their tag has twin:""; it is empty for others.
func EnvName(flag *kong.Flag) string {
	if flag == nil || !flag.Tag.Has("twin") {
		return ""
	}
	return "WAYBOOK_" + strings.ToUpper(strings.ReplaceAll(flag.Name, "-", "_"))
}

// environment resolves flags that are not given from their twins.
type environment struct {
	lookup func(string) (string, bool)
	// used are the flags that came from there.
	used []*kong.Flag
}

// Validate has nothing to say: the values are checked like those of flags.
func (e *environment) Validate(*kong.Application) error { return nil }

// Resolve looks a flag's twin up.
func (e *environment) Resolve(_ *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
	variable := EnvName(flag)
	if variable == "" {
		return nil, nil
	}
	value, ok := e.lookup(variable)
	if !ok {
		return nil, nil
	}
	e.used = append(e.used, flag)
	return value, nil
}

// blame says which twins an error may be about.
func (e *environment) blame(err error) error {
	var parse *kong.ParseError
	if !errors.As(err, &parse) {
		return err
	}
	wrong := &commandLineError{ParseError: parse}
	for _, flag := range e.used {
		if strings.Contains(parse.Error(), "--"+flag.Name) {
			wrong.twins = append(wrong.twins, "--"+flag.Name+" is "+EnvName(flag)+" of the environment")
		}
	}
	return wrong
}

// commandLineError is a command line that kong can't parse.
type commandLineError struct {
	*kong.ParseError
	twins []string
}

// Unwrap returns what is wrong, which may be that help was asked for.
func (e *commandLineError) Unwrap() error { return e.ParseError.Unwrap() }

// help is how to learn what would be right.
func (e *commandLineError) help() string {
	if selected := e.Context.Selected(); selected != nil {
		return "see " + selected.FullPath() + " --help"
	}
	return "see " + name + " --help"
}
