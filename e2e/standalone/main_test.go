// Package standalone_test runs the real standalone program as its users do: by its
// flags, its output, signals, HTTP, and clients in other languages.
package standalone_test

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/waybook/waybook/e2e/launch"
)

// binary is the program, built once for all tests.
var binary string

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	directory, err := os.MkdirTemp("", "waybook-standalone")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(directory) }()
	if binary, err = launch.Build("../../standalone", directory); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if status := m.Run(); status != 0 {
		return status
	}
	if err := goleak.Find(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}
