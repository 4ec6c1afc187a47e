package launch

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"

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

// Build builds the programs of some packages into a directory. Packages are import paths.
//
// Many packages of tests start the same programs, and most of the time of a build is the linker's.
// So the programs are built once for all, in a directory of the workspace where go build finds them
// up to date, and the given directory gets links to them.
func Build(directory string, how Make, packages ...string) error {
	shared, err := sharedDirectory(how)
	if err != nil {
		return err
	}
	unlock, err := lock(filepath.Join(shared, "lock"))
	if err != nil {
		return err
	}
	defer unlock()
	args := building(shared)
	if how.isRaced() {
		args = append(args, "-race")
	}
	command := exec.Command("go", append(args, packages...)...)
	command.Env = os.Environ()
	if hasRaceDetector && !how.isRaced() {
		// Only the race detector needs cgo. Without it, the program is what other runs build.
		command.Env = append(command.Env, "CGO_ENABLED=0")
	}
	if output, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("build %v: %w\n%s", packages, err, output)
	}
	for _, program := range packages {
		name := path.Base(program)
		if err := os.Symlink(filepath.Join(shared, name), filepath.Join(directory, name)); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return nil
}

// building returns the arguments of go that build programs into a directory. A program without its commit is up to
// date after a commit that does not change it. A link without debug information takes two thirds of the time.
func building(directory string) []string {
	return []string{"build", "-buildvcs=false", "-ldflags=-w", "-o", directory + string(filepath.Separator)}
}

func (how Make) isRaced() bool { return hasRaceDetector && how == AsTested }

// sharedDirectory returns the directory of all programs built in one way. Git ignores it.
func sharedDirectory(how Make) (string, error) {
	workspace, err := output("go", "env", "GOWORK")
	if err != nil {
		return "", err
	}
	name := "programs"
	if how.isRaced() {
		name = "programs-race"
	}
	directory := filepath.Join(filepath.Dir(strings.TrimSpace(workspace)), ".bin", name)
	return directory, os.MkdirAll(directory, 0o700)
}

func output(name string, args ...string) (string, error) {
	output, err := exec.Command(name, args...).Output()
	if err != nil {
		return "", fmt.Errorf("%s %v: %w", name, args, err)
	}
	return string(output), nil
}
