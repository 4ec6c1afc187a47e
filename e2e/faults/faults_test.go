//go:build linux

// Package faults injects every fault that one machine allows into a running Waybook. Meanwhile,
// clients read and write, and a checker compares their observations with Waybook's promises. A seed
// determines the faults, but not which request each fault hits.
package faults

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/rs/zerolog"

	"github.com/waybook/waybook/e2e/launch"
	"github.com/waybook/waybook/e2e/mongotest"
	"github.com/waybook/waybook/internal/longform"
)

const (
	// runsVariable sets the number of runs, for the long form.
	runsVariable = "WAYBOOK_FAULT_RUNS"
	// seedVariable is the seed of the first run; each later run adds 1.
	seedVariable = "WAYBOOK_FAULT_SEED"
	// outageVariable is the duration of a database outage in seconds.
	outageVariable = "WAYBOOK_FAULT_OUTAGE_SECONDS"

	// onlyVariable selects a single fault by its name in a run: "processes, cut".
	onlyVariable = "WAYBOOK_FAULT_ONLY"

	// recoveryVariable is how long a fleet may fail after its faults have ended, in seconds.
	recoveryVariable = "FAULTS_RECOVERY_SECONDS"
	// binVariable is the directory of programs that are already built.
	binVariable = "FAULTS_BIN"

	// longestElection is how long a real server may have no primary.
	longestElection = 20 * time.Second

	// shortRuns and longRuns are how many of the faults happen, from the first one on.
	shortRuns, longRuns = 2, 6
	shortOutage         = 2 * time.Second
	// mostShown bounds how many violations of a rule a run shows. The report counts all.
	mostShown = 20
)

func TestNothingAcknowledgedIsLostOrDoneTwiceWhateverFails(t *testing.T) {
	runs, seed := number(t, runsVariable, uint64(longform.Number(shortRuns, longRuns))), number(t, seedVariable, 0)
	outage := time.Duration(number(t, outageVariable, uint64(shortOutage/time.Second))) * time.Second
	var results []result
	all := chosen(t)
	for n := range runs {
		f := all[(seed+n)%uint64(len(all))]
		t.Run(fmt.Sprintf("%d %v", seed+n, f), func(t *testing.T) { results = append(results, withstand(t, f, seed+n, outage)) })
	}
	report(results)
}

// The runs are of the seed of seedVariable.
func TestNothingAcknowledgedIsLostOrDoneTwiceOnARealServer(t *testing.T) {
	for _, f := range faultsOfRealServer() {
		t.Run(f.name, func(t *testing.T) { withstand(t, f, number(t, seedVariable, 0), longestElection) })
	}
}

// withstand performs a run, and reports what was violated.
func withstand(t *testing.T, f fault, seed uint64, outage time.Duration) result {
	r := perform(t, f, seed, outage)
	shown := map[string]int{}
	for _, violation := range r.violations {
		if shown[violation.Rule]++; shown[violation.Rule] <= mostShown {
			t.Errorf("%s=%d: %v", seedVariable, r.seed, violation)
		}
	}
	if !f.hasBitten(r) {
		t.Errorf("%s=%d: no client noticed the fault", seedVariable, r.seed)
	}
	return r
}

// chosen returns all faults, or the selected one.
func chosen(t *testing.T) []fault {
	t.Helper()
	all, only := faults(), os.Getenv(onlyVariable)
	if only == "" {
		return all
	}
	i := slices.IndexFunc(all, func(f fault) bool { return f.String() == only })
	if i < 0 {
		t.Fatalf("%s: there is no fault %q", onlyVariable, only)
	}
	return all[i : i+1]
}

// bin is the directory of the programs, which are built once for all tests. The database is built when one needs it.
var (
	bin           string
	buildDatabase = sync.OnceValue(func() error {
		if os.Getenv(binVariable) != "" {
			return nil
		}
		return launch.Build(bin, launch.AsShipped, mongotest.FerretDB)
	})
)

// runAll builds the programs, unless binVariable names them, and runs the tests.
func runAll(m *testing.M) int {
	zerolog.SetGlobalLevel(zerolog.Disabled) // toxiproxy's
	if bin = os.Getenv(binVariable); bin != "" {
		return m.Run()
	}
	var err error
	if bin, err = os.MkdirTemp("", "waybook-faults"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(bin) }()
	if err := launch.Build(bin, launch.AsTested, append(launch.Programs(), "github.com/waybook/waybook/standalone")...); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

func number(t *testing.T, variable string, otherwise uint64) uint64 {
	t.Helper()
	value := os.Getenv(variable)
	if value == "" {
		return otherwise
	}
	n, err := strconv.ParseUint(value, 10, 32)
	if err != nil {
		t.Fatalf("%s: %v", variable, err)
	}
	return n
}

// report prints a line for each fault of each shape.
func report(results []result) {
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "\nWaybook\tfault\truns\tanswered\tfailed\tslowest\tviolations")
	for _, f := range faults() {
		runs, violations := 0, 0
		var answered, failed int64
		var slowest time.Duration
		for _, r := range results {
			if r.shape == f.shape && r.fault == f.name {
				runs, answered, failed = runs+1, answered+r.answered, failed+r.failed
				slowest, violations = max(slowest, r.slowest), violations+len(r.violations)
			}
		}
		if runs > 0 {
			fmt.Fprintf(table, "%s\t%s\t%d\t%d\t%d\t%v\t%d\n", f.shape, f.name, runs, answered, failed, slowest.Round(time.Millisecond), violations)
		}
	}
	_ = table.Flush()
}
