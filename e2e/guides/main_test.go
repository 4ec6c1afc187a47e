// Package guides_test does what the pages tell their readers to do.
//
// It runs the examples of docs/grpc.md and docs/legacy.md, and the programs of docs/clients.md
// and docs/callers.md in other languages. It also sends every operation by the clients of other languages.
package guides_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/waybook/waybook/e2e/chromium"
	"github.com/waybook/waybook/e2e/launch"
)

// What all tests share: the directory of the programs, that of the compiled Java programs, and a
// running Chromium, or nil if there is none.
var (
	binaries, classes string
	browser           context.Context
)

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	fail := func(err error) int {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	directory, err := os.MkdirTemp("", "waybook-guides")
	if err != nil {
		return fail(err)
	}
	defer func() { _ = os.RemoveAll(directory) }()
	binaries, classes = directory, filepath.Join(directory, "classes")
	if err := launch.Build(directory, launch.AsTested, "github.com/waybook/waybook/standalone"); err != nil {
		return fail(err)
	}
	if err := compileJava(classes); err != nil {
		return fail(err)
	}
	running, end, err := chromium.Start(filepath.Join(directory, "profile"))
	if err != nil {
		return fail(err)
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
