package settings

import (
	"errors"
	"flag"
	"io"
	"os"
)

// Secret is implemented by the values of flags that may hold a secret. The file of settings must
// not hold one: people copy it, commit it and let others read it.
type Secret interface {
	flag.Value
	// HasSecret reports whether the value holds a secret.
	HasSecret() bool
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
