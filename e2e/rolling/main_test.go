// Package rolling drains and kills programs, and replaces their certificates and authority, under
// load, and counts failed requests. It also presents wrong certificates. The programs run as the
// manifests start them.
package rolling

import (
	"fmt"
	"os"
	"testing"

	"github.com/waybook/waybook/e2e/launch"
)

// binaries is the directory of the programs, which are built once for all tests.
var binaries string

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	var err error
	if binaries, err = os.MkdirTemp("", "rolling"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(binaries) }()
	if err := launch.Build(binaries, launch.AsTested, launch.Programs()...); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}
