// Package load measures the cost of long lists, slow readers, large stores, hostile clients, and of more requests
// than Waybook can handle. The tests assert bounds on memory and goroutines, never on time, and that Waybook keeps
// serving and rejects the excess with well-formed replies; the benchmarks, and the tests in the long form, report
// numbers, which depend on the machine.
package load

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waybook/waybook/e2e/launch"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
)

// directory holds the stores that runs share, and binary is the program, which is built once.
var directory, binary string

func TestMain(m *testing.M) {
	if edge := os.Getenv(attackVariable); edge != "" {
		attackFrom(edge, os.Args[1:])
		return
	}
	os.Exit(launch.Main(m, func(made string) error {
		directory = made
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

// store is a directory with content. stores holds those that filled has created.
type store struct {
	data         string
	albums, pois []int64
}

var stores = map[string]store{}

// filled returns a store with a number of landmarks and albums. It creates each kind of store once.
func filled(t testing.TB, name string, pois, albums int) store {
	t.Helper()
	kind := fmt.Sprint(len(name), "-", pois, "-", albums)
	if s, ok := stores[kind]; ok {
		return s
	}
	s := store{data: filepath.Join(directory, kind)}
	p := launch.Start(t, binary, s.data, "-demo=false")
	connection := launch.Dial(t, p.GRPC)
	s.pois = launch.CreatePois(t, connection, category, name, pois)
	s.albums = launch.CreateAlbums(t, connection, "相簿", albums)
	if status := p.End(os.Interrupt); status != 0 {
		t.Fatalf("status %d\n%s", status, p.Printed())
	}
	stores[kind] = s
	return s
}
