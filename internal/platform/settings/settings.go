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
	"os"
	"strings"

	"go.yaml.in/yaml/v3"
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
	r.flags.VisitAll(func(f *flag.Flag) {
		if onlyOnCommandLine(f.Name) || r.given[f.Name] != "" {
			return
		}
		if value, ok := lookupEnv(EnvName(f.Name)); ok {
			r.set(f, value, EnvName(f.Name))
		}
	})
}

// set sets a flag to a value that the environment or a file holds. source names the value's origin.
func (r *reading) set(f *flag.Flag, value, source string) {
	r.given[f.Name] = source
	trimmed := Trim(value)
	if trimmed == "" && value != "" {
		r.fault("%s has only white space; leave it out, or set a value", source)
		return
	}
	r.invalid(trimmed, source, f.Value.Set(trimmed))
}

// invalid adds a fault unless err is nil. No part of an address with an @ is shown, nor of the error, which may quote any
// part of it: a password may stand there.
func (r *reading) invalid(value, source string, err error) {
	switch {
	case err == nil:
	case mayHavePassword(value):
		r.fault("invalid value %q for %s: want an address without a user and a password; it is not shown because of its @", shortened(value), source)
	default:
		r.fault("invalid value %q for %s: %w", shortened(value), source, err)
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

// shortened bounds a value in an error, and shows nothing behind the :// of an address that may have a password.
func shortened(value string) string {
	const most = 200
	if mayHavePassword(value) {
		value = value[:strings.Index(value, "://")] + "://"
	} else if len(value) <= most {
		return value
	}
	return value[:min(len(value), most)] + "..."
}

// mayHavePassword reports whether a value is an address with an @. Whoever writes one wrongly may have a / or a # in
// the password, so the @ may be anywhere.
func mayHavePassword(value string) bool {
	_, rest, _ := strings.Cut(value, "://")
	return strings.Contains(rest, "@")
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
	l.r.invalid(value, "-"+l.name, l.Value.Set(value))
	return nil
}

// IsBoolFlag reports whether the flag may stand without a value.
func (l *lenient) IsBoolFlag() bool {
	b, ok := l.Value.(interface{ IsBoolFlag() bool })
	return ok && b.IsBoolFlag()
}

// fileSuffix ends the name of a flag that names a file with the value of another flag.
const fileSuffix = "-file"

// FromFile declares the flag NAME-file: the path of a file that holds the value of the flag NAME.
// usage completes "`file` with".
func FromFile(flags *flag.FlagSet, name, usage string) {
	flags.Var(&contents{of: name}, name+fileSuffix, "`file` with "+usage)
}

// contents is the value of such a flag.
type contents struct{ of, path string }

// String returns the path.
func (c *contents) String() string { return c.path }

// Set sets the path.
func (c *contents) Set(path string) error {
	c.path = path
	return nil
}

// contents reads the files that hold values of settings.
func (r *reading) contents() {
	r.flags.VisitAll(func(f *flag.Flag) {
		named, ok := f.Value.(*contents)
		if !ok || named.path == "" {
			return
		}
		source := r.given[f.Name]
		target := r.flags.Lookup(named.of)
		if target.Value.String() != "" {
			r.fault("%s and %s are both set; remove one", r.given[named.of], source)
			return
		}
		value, err := readBounded(named.path)
		switch {
		case err != nil:
			r.fault("%s: %w", source, err)
		case len(value) == 0:
			r.fault("%s: %s is empty", source, named.path)
		default:
			r.set(target, string(value), source+" "+named.path)
		}
	})
}

// readBounded reads a file of at most maxFileBytes.
func readBounded(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // it was only read
	read, err := io.ReadAll(io.LimitReader(file, maxFileBytes+1))
	if err == nil && len(read) > maxFileBytes {
		err = errors.New(path + " has more than 64 KiB")
	}
	return read, err
}

// file reads the flags that neither the command line nor the environment sets from a file of
// settings: one YAML mapping from names of flags to single values.
func (r *reading) file(path string) {
	text, err := readBounded(path)
	if err != nil {
		r.fault("-%s: %w", configFlag, err)
		return
	}
	pairs, err := parseFile(text)
	if err != nil {
		r.fault("%s: %w", path, err)
		return
	}
	lines := map[string]int{}
	for _, pair := range pairs {
		name, where := pair.name.Value, fmt.Sprintf("%s:%d", path, pair.name.Line)
		f := r.flags.Lookup(name)
		switch first, isRepeated := lines[name]; {
		case f == nil || pair.name.Kind != yaml.ScalarNode:
			r.fault("%s: unknown setting %q", where, shortened(name))
		case isRepeated:
			r.fault("%s: %s is already set in line %d", where, name, first)
		case name == configFlag || onlyOnCommandLine(name):
			r.fault("%s: %s cannot be set in a file", where, name)
		case pair.value.Kind != yaml.ScalarNode || pair.value.ShortTag() == "!!null":
			r.fault("%s: %s: want one value; separate several by commas", where, name)
		case r.given[name] == "":
			r.setFromFile(f, pair.value.Value, where+": "+name)
		}
		lines[name] = pair.name.Line
	}
}

// setFromFile sets a flag unless the value holds a secret.
func (r *reading) setFromFile(f *flag.Flag, value, source string) {
	r.set(f, value, source)
	// The file of settings must not hold a secret: people copy it, commit it and let others read it.
	if secret, ok := f.Value.(interface{ HasSecret() bool }); ok && secret.HasSecret() {
		r.fault("%s holds a password; put the value into a file of its own and set %s%s to its path", source, f.Name, fileSuffix)
	}
}

// pair is a key of the mapping with its value.
type pair struct{ name, value *yaml.Node }

// parseFile parses a file of settings. An empty file has no pairs.
func parseFile(text []byte) ([]pair, error) {
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	var document, second yaml.Node
	if err := decoder.Decode(&document); errors.Is(err, io.EOF) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	if err := decoder.Decode(&second); !errors.Is(err, io.EOF) {
		return nil, errors.Join(errors.New("want one YAML document"), err)
	}
	mapping := document.Content[0]
	if mapping.Kind == yaml.ScalarNode && mapping.ShortTag() == "!!null" {
		return nil, nil // only comments
	}
	if mapping.Kind != yaml.MappingNode {
		return nil, errors.New("want lines of the form NAME: VALUE, with the names of flags")
	}
	pairs := make([]pair, 0, len(mapping.Content)/2)
	for i := 0; i < len(mapping.Content); i += 2 {
		pairs = append(pairs, pair{mapping.Content[i], mapping.Content[i+1]})
	}
	return pairs, nil
}
