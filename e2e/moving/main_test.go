// Package moving_test moves data and clients to Waybook.
//
// It moves the clients of an old server, as far as the comparison of the two goes: waybookctl compare, and the
// edge with -shadow and -primary. The old server is that of package oldserver. It moves in the data of an old
// service, which package olddata makes. And it imports and exports files of landmarks over TCP.
package moving_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/waybook/waybook/e2e/launch"
)

// binaries is the directory of the programs, which are built once for all tests.
var binaries string

func TestMain(m *testing.M) {
	os.Exit(launch.Main(m, func(directory string) error {
		binaries = directory
		return launch.Build(directory, launch.AsTested, append(launch.Programs(),
			"github.com/waybook/waybook/standalone", "github.com/waybook/waybook/waybookctl")...)
	}))
}

// startStandalone starts standalone on its demo content.
func startStandalone(t *testing.T, args ...string) *launch.Process {
	t.Helper()
	return launch.Start(t, filepath.Join(binaries, "standalone"), t.TempDir(), args...)
}

// serve serves a handler on loopback until the test ends, and returns its address.
func serve(t *testing.T, handler http.Handler) string {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server.URL
}

// patience ends a test that would hang.
const patience = time.Minute

// await waits until the metrics of a program have a line.
func await(t *testing.T, p *launch.Process, line string) {
	t.Helper()
	for limit := time.Now().Add(patience); ; {
		metrics := launch.Metrics(t, p.Admin)
		if strings.Contains(metrics, line+"\n") {
			return
		}
		if time.Now().After(limit) {
			var ours []string
			for each := range strings.Lines(metrics) {
				if strings.HasPrefix(each, "waybook_shadow") && !strings.Contains(each, "_bucket") {
					ours = append(ours, each)
				}
			}
			t.Fatalf("the metrics have no line %s:\n%s\n%s", line, strings.Join(ours, ""), p.Logged())
		}
	}
}
