// Package moving_test moves the data of an old service, which package olddata makes, to Waybook, and runs the commands of
// docs/moving-in.md. And it imports and exports files of landmarks over TCP.
package moving_test

import (
	"net/http"
	"net/http/httptest"
	"os"
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

// serve serves a handler on loopback until the test ends, and returns its address.
func serve(t *testing.T, handler http.Handler) string {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server.URL
}

// patience ends a test that would hang.
const patience = time.Minute
