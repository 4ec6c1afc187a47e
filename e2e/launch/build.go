package launch

import (
	"fmt"
	"os/exec"
	"path/filepath"

	// What the programs are made of, so that go test runs a test again, and does not
	// answer from its cache, when they change.
	_ "github.com/waybook/waybook/edge/program"
	_ "github.com/waybook/waybook/standalone/app"
)

// Make selects how programs are built.
type Make int

const (
	// AsTested builds with the race detector if the test has it.
	AsTested Make = iota
	// AsShipped builds without the race detector, for tests that measure.
	AsShipped
)

// Build builds the programs of some packages into a directory. Packages are import paths, or paths
// relative to the test's package.
func Build(directory string, how Make, packages ...string) error {
	args := []string{"build", "-o", directory + string(filepath.Separator)}
	if hasRaceDetector && how == AsTested {
		args = append(args, "-race")
	}
	if output, err := exec.Command("go", append(args, packages...)...).CombinedOutput(); err != nil {
		return fmt.Errorf("build %v: %w\n%s", packages, err, output)
	}
	return nil
}
