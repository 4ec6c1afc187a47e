// Mutate measures what tests notice: it takes conditions, bounds, errors and calls out of packages, one at a time, and
// runs the tests that reach the place.
//
//	go run ./e2e/mutate [-sample N] [-seed N] [-tests PACKAGE,…] PACKAGE…
//
// Packages are folders of the workspace. Without -tests, the tests of the packages themselves judge. All mutants are
// compiled into one test program for each package of tests, behind a switch. Standard output has a table of the
// share of mutants that some test killed, by package, and the survivors.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	tests := flag.String("tests", "", "packages whose tests judge, separated by commas")
	sample := flag.Int("sample", 0, "number of mutants to try, chosen at random; 0 for all")
	seed := flag.Uint64("seed", 1, "seed of the sample")
	flag.Parse()
	r := &run{folders: flag.Args(), judges: flag.Args(), left: map[string]bool{}}
	if *tests != "" {
		r.judges = strings.Split(*tests, ",")
	}
	if err := r.measure(ctx, *sample, *seed); err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(1)
	}
}
