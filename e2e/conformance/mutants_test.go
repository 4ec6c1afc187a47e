package conformance

import (
	"bytes"
	"flag"
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

// mutantsVariable selects the mutants that run in the long form: a regular expression, which matches the
// first line of a mutant. Without it all run.
const mutantsVariable = "WAYBOOK_MUTANTS"

const mutantsFile, docstoreFolder = "testdata/mutants.txt", "internal/docstore"

var update = flag.Bool("update", false, "looks for a test that fails with each mutant whose own does not, and writes it down")

// A mutant may make a test wait for ever. testTimeout is longer than any test takes, and packageTimeout
// longer than those of a package.
const testTimeout, packageTimeout = 20 * time.Second, 2 * time.Minute

// serverTimeout is how long FerretDB may take to start on a busy machine, before the first test.
const serverTimeout = 2 * time.Minute

// failing runs the tests of a package, or one of them, with a mutant. It returns the name of one that
// fails, or nothing.
func failing(t *testing.T, b *mutants.Tests, m *mutants.Mutant, pkg, test string) (name string) {
	t.Helper()
	timeout, form := packageTimeout, ""
	if test != "" {
		timeout, form = testTimeout, "1" // the short form lacks some of the tests
		if filepath.Base(pkg) == "conformance" {
			timeout += serverTimeout
		}
	}
	args := []string{"-test.v"}
	if test != "" {
		var pattern []string
		for part := range strings.SplitSeq(test, "/") {
			pattern = append(pattern, "^"+regexp.QuoteMeta(part)+"$")
		}
		args = append(args, "-test.run="+strings.Join(pattern, "/"))
	}
	if slices.Contains([]string{"docstoretest", "keys", "conformance"}, filepath.Base(pkg)) { // those that use rapid
		args = append(args, "-rapid.seed=1", "-rapid.nofailfile", "-rapid.shrinktime=1ms")
	}
	output, failed := b.Run(t, m, pkg, timeout, []string{"WAYBOOK_LONG=" + form}, args...)
	if !failed {
		return ""
	}
	// The innermost test has the longest name. After a panic only the one that ran last is known.
	for _, found := range regexp.MustCompile(`--- FAIL: (\S+)`).FindAllStringSubmatch(output, -1) {
		if len(found[1]) > len(name) {
			name = found[1]
		}
	}
	if began := regexp.MustCompile(`=== RUN +(\S+)`).FindAllStringSubmatch(output, -1); name == "" && began != nil {
		name = began[len(began)-1][1]
	}
	if name == "" {
		t.Fatalf("no test ran:\n%s", output)
	}
	return name
}

func TestEveryMutantIsFoundInItsSource(t *testing.T) {
	t.Parallel()
	all := mutants.Read(t, mutantsFile, docstoreFolder)
	mutants.Switched(t, all)
	for _, m := range all {
		if function, _, _ := strings.Cut(m.Test, "/"); !hasTest(t, m.Package, function) {
			t.Errorf("%q has no test %q, which should fail with %s", m.Package, function, m.Title)
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
	chosen, err := regexp.Compile(os.Getenv(mutantsVariable))
	if err != nil {
		t.Fatal(err)
	}
	all := mutants.Read(t, mutantsFile, docstoreFolder)
	built := mutants.Build(t, all)
	mongotest.StartUnmonitored(t, mongowire.Config{}) // FerretDB is linked here, not in the time of the first mutant
	t.Cleanup(func() {                                // when all have run
		if *update {
			mutants.Write(t, mutantsFile, all)
		}
	})
	for _, m := range all {
		if !chosen.MatchString(m.Title) {
			continue
		}
		t.Run(m.Title, func(t *testing.T) {
			t.Parallel()
			if m.Test != "" && failing(t, built, m, m.Package, m.Test) != "" {
				return
			}
			if !*update {
				t.Fatalf("%s of %s does not fail", m.Test, m.Package)
			}
			m.Package, m.Test = "", ""
			for _, pkg := range packagesFor(m) {
				if found := failing(t, built, m, pkg, ""); found != "" {
					m.Package, m.Test = pkg, found
					return
				}
			}
			t.Error("no test fails")
		})
	}
}

// packagesFor returns the packages whose tests may fail with a mutant.
func packagesFor(m *mutants.Mutant) []string {
	if strings.HasPrefix(m.Title, "mongo/") {
		return []string{docstoreFolder + "/mongo", "e2e/conformance", "e2e/mongowire", "e2e/sharding"}
	}
	return []string{docstoreFolder + "/embedded", docstoreFolder + "/docstoretest", docstoreFolder, docstoreFolder + "/keys", "e2e/mongowire"}
}
