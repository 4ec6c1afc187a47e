// Mutate measures what tests notice: it takes conditions, bounds, errors and calls out of packages, one at a time, and
// runs the tests that reach the place.
//
//	go run ./e2e/mutate [-tests PACKAGE,…] [-run REGEXP] [-sample N] [-seed N] PACKAGE…
//
// A package is named as for go list, such as ./services/... . Without -tests, the tests of the packages themselves
// judge. All mutants are compiled into one test program for each package of tests, behind a switch. Standard output
// has a table of the share of mutants that some test killed, by package, and the others.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	tests := flag.String("tests", "", "packages whose tests judge, separated by commas")
	only := flag.String("run", "", "tries only mutants whose line matches this regular expression")
	sample := flag.Int("sample", 0, "number of mutants to try, chosen at random; 0 for all")
	seed := flag.Uint64("seed", 1, "seed of the sample")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	r := &run{output: os.Stdout, progress: os.Stderr}
	if err := r.mutate(ctx, flag.Args(), *tests, *only, *sample, *seed); err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(1)
	}
}
