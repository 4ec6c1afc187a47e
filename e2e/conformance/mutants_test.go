package conformance

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/waybook/waybook/e2e/mongotest"
	"github.com/waybook/waybook/e2e/mongowire"
	"github.com/waybook/waybook/e2e/mutants"
	"github.com/waybook/waybook/internal/longform"
)

// A mutant may make a test wait for ever. testTimeout is longer than any test takes, with the start of FerretDB on
// a busy machine.
const testTimeout = 2*time.Minute + 20*time.Second

func TestEveryPatchOfAMutantApplies(t *testing.T) {
	t.Parallel()
	all := mutants.Read(t)
	mutants.Switched(t, all)
	for _, m := range all {
		if function, _, _ := strings.Cut(m.Test, "/"); !hasTest(t, m.Package, function) {
			t.Errorf("%q has no test %q, which should fail with %s", m.Package, function, m.Name)
		}
	}
}

func hasTest(t *testing.T, pkg, function string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "..", pkg, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(files, func(file string) bool {
		contents, err := os.ReadFile(file)
		return err == nil && bytes.Contains(contents, []byte("\nfunc "+function+"("))
	})
}

func TestNoMutantSurvives(t *testing.T) {
	longform.Only(t)
	all := mutants.Read(t)
	built := mutants.Build(t, all)
	mongotest.StartUnmonitored(t, mongowire.Config{}) // FerretDB is linked here, not in the time of the first mutant
	for _, m := range all {
		t.Run(m.Name, func(t *testing.T) {
			t.Parallel()
			args := []string{"-test.v", "-test.run=^" + strings.ReplaceAll(regexp.QuoteMeta(m.Test), "/", "$/^") + "$"}
			if slices.Contains([]string{"keys", "conformance"}, filepath.Base(m.Package)) { // those that use rapid
				args = append(args, "-rapid.seed=1", "-rapid.nofailfile", "-rapid.shrinktime=1ms")
			}
			output, failed := built.Run(t, m, m.Package, testTimeout, []string{"WAYBOOK_LONG=1"}, args...) // the short form lacks some of the tests
			switch {
			case !strings.Contains(output, "=== RUN"):
				t.Fatalf("no test ran:\n%s", output)
			case !failed:
				t.Fatalf("%s of %s does not fail", m.Test, m.Package)
			}
		})
	}
}
