package settings

import (
	"errors"
	"flag"
)

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
