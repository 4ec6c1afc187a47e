// Package rolling drains and kills programs, and replaces their certificates and authority, under
// load, and counts failed requests. It also presents wrong certificates. The programs run as the
// manifests start them.
package rolling

import (
	"os"
	"testing"

	"github.com/waybook/waybook/e2e/launch"
)

// binaries is the directory of the programs, which are built once for all tests.
var binaries string

func TestMain(m *testing.M) {
	os.Exit(launch.Main(m, func(directory string) error {
		binaries = directory
		return launch.Build(directory, launch.AsTested, launch.Programs()...)
	}))
}
