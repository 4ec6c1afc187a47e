// Package longform divides tests into the short form, which go test runs, and the long form, which
// WAYBOOK_LONG=1 selects and .ci/run long sets.
package longform

import (
	"os"
	"testing"
)

const variable = "WAYBOOK_LONG"

// Selected reports whether the long form runs.
func Selected() bool { return os.Getenv(variable) == "1" }

// Only skips a test in the short form.
func Only(t testing.TB) {
	t.Helper()
	if !Selected() {
		t.Skipf("SKIPPED: only the long form runs this; set %s=1", variable)
	}
}

// Number returns a number of repetitions, which depends on the form.
func Number(short, long int) int {
	if Selected() {
		return long
	}
	return short
}
