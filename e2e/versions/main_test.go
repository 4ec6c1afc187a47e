// Package versions runs an older and the present version of Waybook on one store, as a rolling update and a
// rollback do, and checks that nothing is lost. Both versions write all the time.
package versions

import (
	"archive/zip"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waybook/waybook/e2e/launch"
	"github.com/waybook/waybook/internal/longform"
)

// olderCommit is the oldest version with the present docstore.Format: 0.1.0 once it is released.
const olderCommit = "9b932d9b50d8a6c04b886e7a1d843473d8698024"

// programs are the programs of both versions, which are built once for all tests.
var programs struct {
	older, present string
	// missing is the reason why there is no older program; empty if there is one.
	missing string
}

func TestMain(m *testing.M) { os.Exit(launch.Main(m, build)) }

// build builds the programs of both versions, which only the long form needs.
func build(directory string) error {
	if !longform.Selected() {
		return nil
	}
	programs.present = filepath.Join(directory, "standalone")
	programs.older = filepath.Join(directory, "older")
	err := buildOf(olderCommit, programs.older)
	var missing *missingError
	if errors.As(err, &missing) {
		programs.missing = missing.Error()
		return nil
	}
	if err != nil {
		return err
	}
	return launch.Build(directory, launch.AsTested, "github.com/waybook/waybook/standalone", "github.com/waybook/waybook/waybookctl")
}

// buildOf builds the program of a commit. Errors: *missingError.
func buildOf(commit, program string) error {
	sources := program + "-sources"
	if err := extract(commit, sources); err != nil {
		return err
	}
	// With -trimpath, packages come from the build cache although their directory is new.
	command := exec.Command("go", "build", "-trimpath", "-o", program, "./standalone")
	command.Dir = sources
	command.Env = append(os.Environ(), "GOWORK=off", "CGO_ENABLED=0")
	if output, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("build the program of %s: %w\n%s", commit, err, output)
	}
	return nil
}

// missingError reports that the sources of a version are not at hand.
type missingError struct{ reason string }

func (e *missingError) Error() string { return e.reason }

// extract writes the files of a commit to a directory. Errors: *missingError.
func extract(commit, directory string) error {
	root, err := exec.Command("git", "rev-parse", "--show-toplevel").Output()
	if err != nil {
		return &missingError{fmt.Sprintf("no git checkout (git rev-parse: %v)", err)}
	}
	git := func(args ...string) *exec.Cmd {
		return exec.Command("git", append([]string{"-C", strings.TrimSpace(string(root))}, args...)...)
	}
	if err := git("cat-file", "-e", commit+"^{commit}").Run(); err != nil {
		return &missingError{fmt.Sprintf("this checkout has no commit %s; it may be a shallow clone", commit)}
	}
	archive := directory + ".zip"
	if output, err := git("archive", "--format=zip", "--output="+archive, commit).CombinedOutput(); err != nil {
		return fmt.Errorf("git archive: %w\n%s", err, output)
	}
	files, err := zip.OpenReader(archive)
	if err != nil {
		return err
	}
	defer func() { _ = files.Close() }()
	return os.CopyFS(directory, files)
}
