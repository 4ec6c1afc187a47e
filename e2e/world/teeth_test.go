package world

import (
	"os"
	"regexp"
	"testing"
	"time"

	"github.com/waybook/waybook/e2e/mutants"
)

const mutantsVariable = "WAYBOOK_WORLD_MUTANTS"

// Each mutant switches a protection off, and the world must find it within these seeds.
const seedsOfMutants = "1000"

func TestEveryPatchOfAMutantApplies(t *testing.T) {
	mutants.Switched(t, mutants.Read(t))
}

func TestNoMutantSurvives(t *testing.T) {
	if os.Getenv(mutantsVariable) != "1" {
		t.Skipf("SKIPPED: this takes long; set %s=1", mutantsVariable)
	}
	all := mutants.Read(t)
	built := mutants.Build(t, all)
	for _, m := range all {
		t.Run(m.Name, func(t *testing.T) {
			t.Parallel()
			output, failed := built.Run(t, m, "e2e/world", 20*time.Minute, []string{"WAYBOOK_SEEDS=" + seedsOfMutants},
				"-test.run=^TestWhatWasPromisedHolds")
			if !failed {
				t.Fatalf("it survives %s seeds", seedsOfMutants)
			}
			seed := regexp.MustCompile(`WAYBOOK_FIRST_SEED=(\d+)`).FindStringSubmatch(output)
			if seed == nil {
				t.Fatalf("no seed failed:\n%s", output)
			}
			place := regexp.MustCompile(`FAIL: TestWhatWasPromisedHolds(\w+)`).FindStringSubmatch(output)
			t.Logf("seed %s %s", seed[1], place[1])
		})
	}
}
