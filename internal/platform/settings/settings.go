// Package settings reads the settings of a program. Each setting is a flag. Its value comes from
// the first of these that has it: the command line, the environment, the file of settings, and the
// flag's default.
package settings

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// onCommandLine are the flags that say what to do with the settings. The environment and the file
// cannot set them: an image may have its own WAYBOOK_VERSION.
var onCommandLine = []string{"check", "version"}

// Flags are the flags of the settings themselves.
type Flags struct {
	// File is the path of the file of settings, or "".
	File string
	// OnlyCheck requests a check of the settings instead of a start.
	OnlyCheck bool
	// OnlyVersion requests the version instead of a start.
	OnlyVersion bool
}

func (f *Flags) Register(flags *flag.FlagSet) {
	flags.StringVar(&f.File, "config", "",
		"YAML `file` of settings, whose keys are the names of flags; flags and the environment take "+
			"precedence over it")
	flags.BoolVar(&f.OnlyCheck, "check", false,
		"check all settings, report every invalid one, and exit; not read from the environment")
	flags.BoolVar(&f.OnlyVersion, "version", false,
		"print the version, the commit and the Go version, and exit; not read from the environment")
}

// Read sets the flags of a flag set, which must include those of f. It reports every fault, each
// with the setting that has it, and flag.ErrHelp if the command line requests help.
func (f *Flags) Read(flags *flag.FlagSet, args []string, lookupEnv func(string) (string, bool)) error {
	r := &reading{flags: flags, given: map[string]string{}}
	err := r.commandLine(args)
	if errors.Is(err, flag.ErrHelp) || err == nil && f.OnlyVersion {
		return err
	}
	r.faults = append(r.faults, err)
	flags.VisitAll(func(f *flag.Flag) {
		value, ok := lookupEnv(EnvName(f.Name))
		if ok && r.given[f.Name] == "" && !slices.Contains(onCommandLine, f.Name) {
			r.set(f, value, EnvName(f.Name))
		}
	})
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

// set sets a flag. source names the value's origin. No error shows an address with an @, where a
// password may be.
func (r *reading) set(f *flag.Flag, value, source string) {
	r.given[f.Name] = source
	trimmed := Trim(value)
	switch err := f.Value.Set(trimmed); {
	case trimmed == "" && value != "":
		r.fault("%s has only white space; leave it out, or set a value", source)
	case err != nil && mayHavePassword(value):
		r.fault("invalid value for %s: want an address without a user and a password; it is not shown "+
			"because of its @", source)
	case err != nil:
		r.fault("invalid value %q for %s: %w", trimmed, source, err)
	}
}

// mayHavePassword reports whether a value is an address with an @. A / or a # of a password may
// stand before the @.
func mayHavePassword(value string) bool {
	_, rest, _ := strings.Cut(value, "://")
	return strings.Contains(rest, "@")
}

// commandLine reads the flags of a command line. An error is one of its form.
func (r *reading) commandLine(args []string) error {
	line := flag.NewFlagSet("", flag.ContinueOnError)
	line.SetOutput(io.Discard)
	r.flags.VisitAll(func(f *flag.Flag) {
		declare := line.Func
		if b, ok := f.Value.(interface{ IsBoolFlag() bool }); ok && b.IsBoolFlag() {
			declare = line.BoolFunc
		}
		declare(f.Name, "", func(value string) error {
			r.set(f, value, "-"+f.Name)
			return nil // so that the parsing goes on
		})
	})
	err := line.Parse(args)
	if err == nil && line.NArg() > 0 {
		shown, _, _ := strings.Cut(line.Arg(0), "://") // a password may be behind it
		return fmt.Errorf("unexpected argument %q", shown)
	}
	return err
}

// FromFile declares the flag NAME-file: the path of a file that holds the value of the flag NAME.
// usage completes "`file` with".
func FromFile(flags *flag.FlagSet, name, usage string) {
	flags.String(name+fileSuffix, "", "`file` with "+usage)
}

const fileSuffix = "-file"

// contents reads the files that hold values of settings.
func (r *reading) contents() {
	r.flags.VisitAll(func(f *flag.Flag) {
		name, _ := strings.CutSuffix(f.Name, fileSuffix)
		path, target := f.Value.String(), r.flags.Lookup(name)
		if name == f.Name || path == "" || target == nil {
			return
		}
		source := r.given[f.Name]
		switch value, err := os.ReadFile(path); {
		case target.Value.String() != "":
			r.fault("%s and %s are both set; remove one", r.given[name], source)
		case err != nil:
			r.fault("%s: %w", source, err)
		case len(value) == 0:
			r.fault("%s: %s is empty", source, path)
		default:
			r.set(target, string(value), source+" "+path)
		}
	})
}

// file reads the flags that neither the command line nor the environment sets from a file of
// settings: one YAML mapping from names of flags to single values.
func (r *reading) file(path string) {
	text, err := os.ReadFile(path)
	if err != nil {
		r.fault("-config: %w", err)
	}
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	var values map[string]yaml.Node // nodes keep the lines, and the values as they are written
	if err := decoder.Decode(&values); err != nil && !errors.Is(err, io.EOF) {
		r.fault("%s: want lines of the form NAME: VALUE, with the names of flags: %w", path, err)
	} else if decoder.Decode(new(yaml.Node)) == nil {
		r.fault("%s: want one YAML document", path)
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		node, f := values[name], r.flags.Lookup(name)
		where := fmt.Sprintf("%s:%d: %s", path, node.Line, name)
		switch {
		case f == nil:
			r.fault("%s:%d: unknown setting %q", path, node.Line, name)
		case name == "config" || slices.Contains(onCommandLine, name):
			r.fault("%s cannot be set in a file", where)
		case node.Kind != yaml.ScalarNode || node.ShortTag() == "!!null":
			r.fault("%s: want one value; separate several by commas", where)
		case r.given[name] == "":
			r.set(f, node.Value, where)
			// People copy the file of settings, commit it and let others read it.
			if secret, ok := f.Value.(interface{ HasSecret() bool }); ok && secret.HasSecret() {
				r.fault("%s holds a password; put the value into a file of its own and set %s%s to its path", where,
					name, fileSuffix)
			}
		}
	}
}

// EnvName returns the environment variable of a flag: WAYBOOK_SOME_FLAG of some-flag.
func EnvName(flagName string) string {
	return "WAYBOOK_" + strings.ToUpper(strings.ReplaceAll(flagName, "-", "_"))
}

// Trim removes the white space at the end of a value. Values of the environment and of files often
// end with a newline by accident.
func Trim(value string) string { return strings.TrimRight(value, " \t\r\n") }

// List returns the parts of a value that commas separate, without white space around them and
// without empty ones.
func List(value string) (parts []string) {
	for part := range strings.SplitSeq(value, ",") {
		if part = strings.TrimSpace(part); part != "" {
			parts = append(parts, part)
		}
	}
	return parts
}
