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

// parse reads the flags. What -quick sets, other flags may set otherwise.
func parse(args []string, out io.Writer) (run.Settings, error) {
	names, help := run.Sections()
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(out)
	var s run.Settings
	var quick bool
	var what, cases string
	flags.BoolVar(&quick, "quick", false, "a first look in a minute or two: few and short rounds, a smaller store, no Go benchmarks, few cases")
	flags.IntVar(&s.Rounds, "rounds", 5, "how often contenders take turns; 3 with -quick")
	flags.DurationVar(&s.Duration, "duration", 3*time.Second, "how long each turn takes; 300ms with -quick")
	flags.IntVar(&s.Documents, "documents", 1_000_000, "how many landmarks a large store has, in tens of thousands; 50000 with -quick")
	flags.IntVar(&s.Listed, "listed", 10_000, "how many landmarks the list has that every contender answers")
	flags.StringVar(&what, "what", "", "sections to run, with commas between them; all but profile by default:"+help)
	flags.StringVar(&cases, "cases", "", "cases to compare in, with commas between them, such as getAlbum,addAlbum; all by default")
	flags.StringVar(&s.Data, "data", "", "`directory` for stores, whose disk is measured; that of temporary files by default")
	flags.StringVar(&s.Profiles, "profiles", "profiles", "`directory` that section profile writes to")
	if err := flags.Parse(args); err != nil {
		return s, err
	}
	s.What = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return name == "profile" })
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
			return s, fmt.Errorf("-what: there is no section %q; there are %s", name, strings.Join(names, ", "))
		}
	}
	for _, name := range s.Cases {
		if !slices.Contains(run.CaseNames(), name) {
			return s, fmt.Errorf("-cases: there is no case %q; there are %s", name, strings.Join(run.CaseNames(), ", "))
		}
	}
	if s.Rounds < 1 || s.Duration <= 0 || s.Documents < 20_000 || s.Documents%10_000 != 0 || s.Listed < 1 {
		return s, fmt.Errorf("-rounds and -listed must be 1 or more, -duration more than 0, -documents 20000 or more and tens of thousands")
	}
	return s, nil
}
