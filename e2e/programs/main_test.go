// Package programs_test runs the real programs as their users do.
//
// It starts standalone with its flags, reads its output, sends it signals, and calls it with clients in
// other languages. It runs it on one machine as docs/one-machine.md installs it: by the unit of systemd,
// and behind nginx and Caddy.
package programs_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/waybook/waybook/e2e/launch"
)

// binaries is the directory of the programs, which are built once for all tests. binary is standalone.
var binaries, binary string

func TestMain(m *testing.M) {
	os.Exit(launch.Main(m, func(directory string) error {
		binaries, binary = directory, filepath.Join(directory, "standalone")
		return launch.Build(directory, launch.AsTested, append(launch.Programs(), "github.com/waybook/waybook/standalone")...)
	}))
}
