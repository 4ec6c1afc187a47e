// Package machine_test tests Waybook on one machine as docs/one-machine.md installs it: the unit of
// systemd, and nginx and Caddy in front of it.
package machine_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/waybook/waybook/e2e/launch"
)

// deploy is the directory of the examples.
const deploy = "../../deploy"

// standalone and edge are programs, which are built once for all tests.
var standalone, edge string

func TestMain(m *testing.M) {
	os.Exit(launch.Main(m, func(directory string) error {
		standalone, edge = filepath.Join(directory, "standalone"), filepath.Join(directory, "edge")
		return launch.Build(directory, launch.AsShipped, "github.com/waybook/waybook/standalone", "github.com/waybook/waybook/edge/cmd/edge")
	}))
}

// example reads a file of the examples.
func example(t testing.TB, path string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(deploy, path))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// write writes a file below a directory and returns its path.
func write(t testing.TB, directory, name, text string) string {
	t.Helper()
	path := filepath.Join(directory, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
