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
func parse(args []string, told io.Writer) (run.Settings, error) {
	var s run.Settings
	names, help := run.Sections()
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(told)
	var what, cases string
	quick := flags.Bool("quick", false, "a first look in a few minutes: few and short rounds, a smaller store, few cases and sections")
	flags.IntVar(&s.Rounds, "rounds", 5, "number of rounds in which the contenders take turns; 3 with -quick")
	flags.DurationVar(&s.Duration, "duration", 2*time.Second, "duration of each turn; 300ms with -quick")
	flags.IntVar(&s.Documents, "documents", 1_000_000, "number of landmarks in a large store; 50000 with -quick")
	flags.StringVar(&what, "what", strings.Join(names, ","), "comma-separated sections to run:"+help)
	flags.StringVar(&cases, "cases", "", "comma-separated cases to compare, such as getAlbum,addAlbum; by default all")
	flags.StringVar(&s.Beside, "beside", "", "source `tree` of another version, which standalone and processes measure beside this one, instead of its rivals")
	flags.StringVar(&s.Data, "data", "", "`directory` for the stores; its disk is measured; by default the directory of temporary files")
	flags.StringVar(&s.Out, "out", "bench/tables.md", "`file` to which the tables are appended")
	if err := flags.Parse(args); err != nil {
		return s, err
	}
	given := map[string]bool{}
	flags.Visit(func(f *flag.Flag) { given[f.Name] = true })
	if *quick {
		for name, value := range map[string]string{
			"rounds": "3", "duration": "300ms", "documents": "50000", "what": "standalone,processes,tail,large",
			"cases": "getAlbum,getAlbum-children,addAlbum,getCategoryPOIList",
		} {
			if !given[name] {
				if err := flags.Set(name, value); err != nil {
					return s, err
				}
			}
		}
	}
	s.What = strings.Split(what, ",")
	if cases != "" {
		s.Cases = strings.Split(cases, ",")
	}
	s.Command = strings.Join(append([]string{"go run ./bench"}, args...), " ")
	return s, check(s, names)
}

func check(s run.Settings, sections []string) error {
	for _, name := range s.What {
		if !slices.Contains(sections, name) {
			return fmt.Errorf("-what: unknown section %q; the sections are %s", name, strings.Join(sections, ", "))
		}
	}
	for _, name := range s.Cases {
		if !slices.Contains(run.CaseNames(), name) {
			return fmt.Errorf("-cases: unknown case %q; the cases are %s", name, strings.Join(run.CaseNames(), ", "))
		}
	}
	if s.Rounds < 1 || s.Duration <= 0 || s.Documents < run.SmallStore {
		return fmt.Errorf("-rounds must be 1 or more, -duration more than 0, and -documents %d or more", run.SmallStore)
	}
	return nil
}
