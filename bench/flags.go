package main

import (
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/waybook/waybook/bench/internal/run"
)

// parse parses the flags. Other flags override the values that -quick sets.
func parse(args []string, out io.Writer) (run.Settings, error) {
	names, help := run.Sections()
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(out)
	var s run.Settings
	var quick bool
	var what, cases string
	flags.BoolVar(&quick, "quick", false, "run in a minute or two: few and short rounds, a smaller store, few cases, no Go benchmarks")
	flags.IntVar(&s.Rounds, "rounds", 5, "number of rounds in which the contenders take turns; 3 with -quick")
	flags.DurationVar(&s.Duration, "duration", 3*time.Second, "duration of each turn; 300ms with -quick")
	flags.IntVar(&s.Documents, "documents", 1_000_000, "number of landmarks in a large store, a multiple of 10000; 50000 with -quick")
	flags.IntVar(&s.Listed, "listed", 10_000, "number of landmarks in the list that every contender returns")
	flags.StringVar(&what, "what", "", "comma-separated sections to run; by default all except profile and earlier:"+help)
	flags.StringVar(&cases, "cases", "", "comma-separated cases to compare, such as getAlbum,addAlbum; by default all")
	flags.StringVar(&s.Data, "data", "", "`directory` for the stores; its disk is measured; by default the directory of temporary files")
	flags.StringVar(&s.Earlier, "earlier", "", "source `tree` of another version, for section earlier")
	flags.StringVar(&s.Profiles, "profiles", "profiles", "`directory` to which section profile writes")
	if err := flags.Parse(args); err != nil {
		return s, err
	}
	s.What = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return name == "profile" || name == "earlier" })
	if quick {
		s.What = []string{"standalone", "processes", "writers", "large"}
		s.Cases = []string{"getAlbum", "getAlbum-children", "addAlbum", "getCategoryPOIList"}
		given := map[string]bool{}
		flags.Visit(func(f *flag.Flag) { given[f.Name] = true })
		for name, value := range map[string]string{"rounds": "3", "duration": "300ms", "documents": "50000"} {
			if !given[name] {
				if err := flags.Set(name, value); err != nil {
					return s, err
				}
			}
		}
	}
	if what != "" {
		s.What = strings.Split(what, ",")
	}
	if cases != "" {
		s.Cases = strings.Split(cases, ",")
	}
	for _, name := range s.What {
		if !slices.Contains(names, name) {
			return s, fmt.Errorf("-what: unknown section %q; the sections are %s", name, strings.Join(names, ", "))
		}
	}
	for _, name := range s.Cases {
		if !slices.Contains(run.CaseNames(), name) {
			return s, fmt.Errorf("-cases: unknown case %q; the cases are %s", name, strings.Join(run.CaseNames(), ", "))
		}
	}
	if (s.Earlier != "") != slices.Contains(s.What, "earlier") {
		return s, fmt.Errorf("-what earlier and -earlier must be given together")
	}
	if s.Rounds < 1 || s.Duration <= 0 || s.Documents < 20_000 || s.Documents%10_000 != 0 || s.Listed < 1 {
		return s, fmt.Errorf("-rounds and -listed must be 1 or more, -duration more than 0, -documents 20000 or more and a multiple of 10000")
	}
	return s, nil
}
