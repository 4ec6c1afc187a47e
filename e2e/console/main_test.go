// Package console_test opens the console of a real standalone in Chromium, and uses it as people do.
package console_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/waybook/waybook/e2e/chromium"
	"github.com/waybook/waybook/e2e/launch"
)

// binaries is the directory of the programs, and browser a running Chromium without a page; it is nil
// if there is none. Both serve all tests.
var (
	binaries string
	browser  context.Context
)

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	directory, err := os.MkdirTemp("", "waybook-console")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(directory) }()
	binaries = directory
	err = launch.Build(directory, launch.AsTested, "github.com/waybook/waybook/standalone", "github.com/waybook/waybook/edge/cmd/edge", "github.com/waybook/waybook/waybookctl")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	running, end, err := chromium.Start(filepath.Join(directory, "profile"))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer end()
	browser = running
	return m.Run()
}

// start starts standalone with demo content.
func start(t *testing.T, args ...string) *launch.Process {
	t.Helper()
	return launch.Start(t, filepath.Join(binaries, "standalone"), t.TempDir(), args...)
}
