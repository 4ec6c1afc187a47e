// Package load measures what requests, long lists, slow readers and hostile clients cost. The tests assert bounds on
// memory and goroutines, never on time, and that Waybook keeps serving. In the long form they report numbers, which
// depend on the machine.
package load

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waybook/waybook/e2e/launch"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
)

// binary is the program, which is built once.
var binary string

func TestMain(m *testing.M) {
	if edge := os.Getenv(attackVariable); edge != "" {
		attackFrom(edge, os.Args[1:])
		return
	}
	os.Exit(launch.Main(m, func(directory string) error {
		binary = filepath.Join(directory, "standalone")
		return launch.Build(directory, launch.AsShipped, "github.com/waybook/waybook/standalone")
	}))
}

// category is the category of all landmarks here.
const category = poiv1.PoiCategory_POI_CATEGORY_THRILL

// listQuery asks for the list of all landmarks.
const listQuery = "func=getCategoryPOIList&category=5"

// wideName takes 1,000 bytes in XML, so that few items fill every socket buffer.
var wideName = strings.Repeat("&", 200)

// filled returns the directory of a store with a number of landmarks.
func filled(t *testing.T, pois int) string {
	t.Helper()
	data := t.TempDir()
	p := launch.Start(t, binary, data, "-demo=false")
	launch.CreatePois(t, launch.Dial(t, p.GRPC), category, wideName, pois)
	if status := p.End(os.Interrupt); status != 0 {
		t.Fatalf("status %d\n%s", status, p.Printed())
	}
	return data
}
