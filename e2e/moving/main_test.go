// Package moving_test moves old services to Waybook: one whose database nobody looked after, by the commands of
// docs/moving-in.md, and one that package olddata makes, by an import that is killed. And it imports and exports files of
// landmarks over TCP.
package moving_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waybook/waybook/e2e/launch"
	"github.com/waybook/waybook/waybookctl/cli"
)

// binaries is the directory of the programs, which are built once for all tests.
var binaries string

func TestMain(m *testing.M) {
	os.Exit(launch.Main(m, func(directory string) error {
		binaries = directory
		return launch.Build(directory, launch.AsTested, "github.com/waybook/waybook/standalone", "github.com/waybook/waybook/waybookctl")
	}))
}

// startOn starts standalone without demo content on a store.
func startOn(t *testing.T, data string) *launch.Process {
	t.Helper()
	return launch.Start(t, filepath.Join(binaries, "standalone"), data, "-demo=false", "-grpc=")
}

// expectRun runs a command of waybookctl, which must have an exit status, and returns what it prints, with one blank between
// two words.
func expectRun(t *testing.T, status int, args ...string) string {
	t.Helper()
	var out, notes bytes.Buffer
	got := cli.Run(t.Context(), args, cli.Streams{In: strings.NewReader(""), Out: &out, Err: &notes}, func(string) (string, bool) { return "", false })
	if got != status {
		t.Fatalf("%v: status %d, want %d\n%s%s", args, got, status, out.String(), notes.String())
	}
	return words(out.String())
}

// words returns a text with one blank between the words of each line.
func words(text string) string {
	var lines strings.Builder
	for line := range strings.Lines(text) {
		lines.WriteString(strings.Join(strings.Fields(line), " ") + "\n")
	}
	return lines.String()
}
