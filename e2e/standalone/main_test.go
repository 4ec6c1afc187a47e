// Package standalone_test runs the real standalone program as its users do: with its flags, its
// output, signals, HTTP, and clients in other languages.
package standalone_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/waybook/waybook/e2e/launch"
)

// binary is the program, which is built once for all tests.
var binary string

func TestMain(m *testing.M) {
	os.Exit(launch.Main(m, func(directory string) error {
		binary = filepath.Join(directory, "standalone")
		return launch.Build(directory, launch.AsTested, "github.com/waybook/waybook/standalone")
	}))
}
