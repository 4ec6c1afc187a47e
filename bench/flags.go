package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/waybook/waybook/bench/internal/run"
)

// parse parses the flags.
func parse(args []string, told io.Writer) (run.Settings, error) {
	var s run.Settings
	names, help := run.Sections()
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(told)
	flags.IntVar(&s.Rounds, "rounds", 5, "number of rounds in which the contenders take turns")
	flags.DurationVar(&s.Duration, "duration", 2*time.Second, "duration of each turn")
	flags.IntVar(&s.Documents, "documents", 1_000_000, "number of albums in the largest store of growth")
	flags.StringVar(&s.Beside, "beside", "",
		"source `tree` of another version, which standalone and processes measure instead of the rivals")
	sections := flags.String("what", strings.Join(names, ","), "comma-separated sections to run:"+help)
	cases := flags.String("cases", strings.Join(run.CaseNames(), ","),
		"comma-separated cases of standalone and processes")
	if err := flags.Parse(args); err != nil {
		return s, err
	}
	s.Command = strings.Join(append([]string{"go run ./bench"}, args...), " ")
	s.What, s.Cases = strings.Split(*sections, ","), strings.Split(*cases, ",")
	if s.Rounds < 1 || s.Duration <= 0 || s.Documents < run.SmallStore {
		return s, fmt.Errorf("-rounds must be 1 or more, -duration more than 0, and -documents %d or more",
			run.SmallStore)
	}
	return s, errors.Join(known("-what", s.What, names), known("-cases", s.Cases, run.CaseNames()))
}

// known checks the names in the value of a flag.
func known(flag string, given, names []string) error {
	for _, name := range given {
		if !slices.Contains(names, name) {
			return fmt.Errorf("%s: unknown name %q; the names are %s", flag, name, strings.Join(names, ", "))
		}
	}
	return nil
}
