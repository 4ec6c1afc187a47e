// Package settings reads the settings of a program. Each setting is a flag. Its value comes from
// the first of these that has it: the command line, the environment, the file of settings, and the
// flag's default.
package settings

import (
	"errors"
	"flag"
	"fmt"
	"strings"
)

const (
	configFlag  = "config"
	checkFlag   = "check"
	versionFlag = "version"
)

// onlyOnCommandLine reports whether a flag says what to do with the settings. The environment and
// the file cannot set such a flag: an image may have its own WAYBOOK_VERSION.
func onlyOnCommandLine(name string) bool { return name == checkFlag || name == versionFlag }

// maxFileBytes bounds the file of settings, and a file that holds the value of one setting.
const maxFileBytes = 64 << 10

// Flags are the flags of the settings themselves.
type Flags struct {
	// File is the path of the file of settings, or "".
	File string
	// OnlyCheck requests a check of the settings instead of a start.
	OnlyCheck bool
	// OnlyVersion requests the version instead of a start.
	OnlyVersion bool
}

// Register declares the flags.
func (f *Flags) Register(flags *flag.FlagSet) {
	flags.StringVar(&f.File, configFlag, "", "YAML `file` of settings, whose keys are the names of flags; flags and the environment take precedence over it")
	flags.BoolVar(&f.OnlyCheck, checkFlag, false, "check all settings, report every invalid one, and exit; not read from the environment")
	flags.BoolVar(&f.OnlyVersion, versionFlag, false, "print the version, the commit and the Go version, and exit; not read from the environment")
}

// Read sets the flags of a flag set, which must include those of f. It reports every fault, each
// with the setting that has it, and flag.ErrHelp if a command line without faults requests help.
func (f *Flags) Read(flags *flag.FlagSet, args []string, lookupEnv func(string) (string, bool)) error {
	r := &reading{flags: flags, given: map[string]string{}}
	if err := r.commandLine(args); len(r.faults) == 0 && (f.OnlyVersion || err != nil) {
		return err
	}
	r.environment(lookupEnv)
	if f.File != "" {
		r.file(f.File)
	}
	r.contents()
	return errors.Join(r.faults...)
}

// reading collects the settings and the faults in them.
type reading struct {
	flags *flag.FlagSet
	// given are the settings that a source has set, with the name that the source has for them.
	given  map[string]string
	faults []error
}

func (r *reading) fault(format string, args ...any) {
	r.faults = append(r.faults, fmt.Errorf(format, args...))
}

// environment reads the flags that the command line does not set.
func (r *reading) environment(lookupEnv func(string) (string, bool)) {
	given := r.alreadyGiven()
	r.flags.VisitAll(func(f *flag.Flag) {
		if onlyOnCommandLine(f.Name) || given(f.Name) {
			return
		}
		if value, ok := lookupEnv(EnvName(f.Name)); ok {
			r.set(f, value, EnvName(f.Name))
		}
	})
}

// alreadyGiven returns a function that reports whether an earlier source has set a flag.
func (r *reading) alreadyGiven() func(name string) bool {
	earlier := map[string]bool{}
	for name := range r.given {
		earlier[name] = true
	}
	return func(name string) bool { return earlier[name] }
}

// set sets a flag to a value that the environment or a file holds. source names the value's origin.
func (r *reading) set(f *flag.Flag, value, source string) {
	r.given[f.Name] = source
	trimmed := Trim(value)
	if trimmed == "" && value != "" {
		r.fault("%s has only white space; leave it out, or set a value", source)
		return
	}
	if err := f.Value.Set(trimmed); err != nil {
		r.fault("invalid value %q for %s: %w", shortened(trimmed), source, err)
	}
}

// Trim removes the white space at the end of a value that the environment or a file holds. Such
// values often end with a newline that nobody meant.
func Trim(value string) string { return strings.TrimRight(value, " \t\r\n") }

// List returns the parts of a value that commas separate, without white space around them and without
// empty ones.
func List(value string) (parts []string) {
	for part := range strings.SplitSeq(value, ",") {
		if part = strings.TrimSpace(part); part != "" {
			parts = append(parts, part)
		}
	}
	return parts
}

// shortened bounds a value in an error.
func shortened(value string) string {
	const most = 200
	if len(value) > most {
		return value[:most] + "..."
	}
	return value
}

// EnvName returns the environment variable of a flag: WAYBOOK_SOME_FLAG of some-flag.
func EnvName(flagName string) string {
	return "WAYBOOK_" + strings.ToUpper(strings.ReplaceAll(flagName, "-", "_"))
}

// commandLine reads the flags of a command line and adds its faults. It returns flag.ErrHelp at a
// request for help, which ends the reading.
func (r *reading) commandLine(args []string) error {
	r.flags.Usage = func() {} // the caller prints help and faults
	r.flags.VisitAll(func(f *flag.Flag) { f.Value = &lenient{f.Value, f.Name, r} })
	err := r.flags.Parse(args)
	r.flags.VisitAll(func(f *flag.Flag) { f.Value = f.Value.(*lenient).Value })
	r.flags.Visit(func(f *flag.Flag) { r.given[f.Name] = "-" + f.Name })
	switch {
	case errors.Is(err, flag.ErrHelp):
		return err
	case err != nil:
		r.fault("%w", err)
	case r.flags.NArg() > 0:
		r.fault("unexpected argument %q", shortened(r.flags.Arg(0)))
	}
	return nil
}

// lenient is a flag's value that adds an invalid value to the faults. The flag package would end
// the parsing at the first.
type lenient struct {
	flag.Value
	name string
	r    *reading
}

// Set sets the value.
func (l *lenient) Set(value string) error {
	if err := l.Value.Set(value); err != nil {
		l.r.fault("invalid value %q for -%s: %w", shortened(value), l.name, err)
	}
	return nil
}

// IsBoolFlag reports whether the flag may stand without a value.
func (l *lenient) IsBoolFlag() bool {
	b, ok := l.Value.(interface{ IsBoolFlag() bool })
	return ok && b.IsBoolFlag()
}
