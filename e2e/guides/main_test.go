// Package guides_test does what the pages tell their readers to do.
//
// It runs the examples of docs/grpc.md and docs/legacy.md, and the programs of docs/clients.md
// and docs/callers.md in other languages.
package guides_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/waybook/waybook/e2e/launch"
)

// binaries is the directory of the programs, which are built once for all tests.
var binaries string

func TestMain(m *testing.M) {
	os.Exit(launch.Main(m, func(directory string) error {
		binaries = directory
		return launch.Build(directory, launch.AsTested, "github.com/waybook/waybook/standalone")
	}))
}

// start starts standalone with demo content.
func start(t *testing.T, args ...string) *launch.Process {
	t.Helper()
	return launch.Start(t, filepath.Join(binaries, "standalone"), t.TempDir(), args...)
}
