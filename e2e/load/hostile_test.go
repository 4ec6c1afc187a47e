package load

import (
	"maps"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/waybook/waybook/e2e/launch"
	"github.com/waybook/waybook/internal/longform"
)

const (
	// mostMemory is three quarters of the memory limit of an edge in the manifests, in MiB. The rest is
	// for the buffers of its sockets. goMemory is the request, which the garbage collector keeps to.
	mostMemory = 256 * 3 / 4
	goMemory   = "160MiB"
	// longList is the number of landmarks of a list of 2 MB, which fills every socket buffer.
	longList = 2000
)

// phase returns how long each phase of a test takes, and whether that was requested.
func phase(t *testing.T) (each time.Duration, isLong bool) {
	t.Helper()
	given := os.Getenv("WAYBOOK_OVERLOAD")
	if given == "" {
		return time.Second, false
	}
	each, err := time.ParseDuration(given)
	if err != nil {
		t.Fatal(err)
	}
	return each, true
}

// hostility is a run of the edge under attack.
type hostility struct {
	attacks []string
	flags   []string
}

// anyAddress switches off the limit per address, as for attackers that have as many addresses as
// connections.
const anyAddress = "-max-client-connections=0"

// hostilities returns the runs of the test: all attacks at once, and in the long form each by
// itself.
func hostilities(isLong bool) (runs []hostility) {
	names := slices.Sorted(maps.Keys(attacks))
	for _, flags := range [][]string{nil, {anyAddress}} {
		for _, name := range names {
			if isLong {
				runs = append(runs, hostility{[]string{name}, flags})
			}
		}
		runs = append(runs, hostility{names, flags})
	}
	return runs
}

func (h hostility) String() string {
	name := h.attacks[0]
	if len(h.attacks) > 1 {
		name = "all"
	}
	if len(h.flags) > 0 {
		name += ", any address"
	}
	return name
}

// An edge with the memory of the manifests survives clients that want to end it, and serves others
// meanwhile. How many it serves is printed and not asserted.
func TestHostileClientsEndNoEdge(t *testing.T) {
	longform.Only(t)
	each, isLong := phase(t)
	binaries := t.TempDir()
	if err := launch.Build(binaries, launch.AsShipped, launch.Programs()...); err != nil {
		t.Fatal(err)
	}
	services := launch.StartServices(t, binaries, t.TempDir())
	createUsers(t, launch.Dial(t, services["account"].GRPC))
	visitors := newVisitors(t, services)
	createLongContent(t, services)
	findLongFile(t)

	t.Logf("%-26s %10s %10s %10s %10s %10s %10s %10s %12s", "attack", "normal/s", "good/s", "goodput", "busy/s", "normal p99", "p99", "peak MiB", "connections")
	for _, h := range hostilities(isLong) {
		t.Run(h.String(), func(t *testing.T) {
			h.run(t, each, visitors, func(flags ...string) *launch.Process {
				return launch.StartEdge(t, binaries, services, []string{"GOMEMLIMIT=" + goMemory, "GOMAXPROCS=2"}, append(flags, "-console")...)
			})
		})
	}
}

// run attacks an edge, in phases that each last so long.
func (h hostility) run(t *testing.T, each time.Duration, visitors *visitors, start func(flags ...string) *launch.Process) {
	edge := start(h.flags...)
	visitors.visit(t, edge, each/2) // warm
	normal := visitors.visit(t, edge, each)

	end := beginAttack(t, edge.HTTP, h.attacks)
	visitors.visit(t, edge, each/2) // until the attackers have connected
	good := visitors.visit(t, edge, each)
	connected := end()

	if !edge.Alive() {
		t.Fatalf("the edge has ended.\n%s", edge.Printed())
	}
	peak := launch.MemoryOf(t, edge).Peak
	t.Logf("%-26v %10.0f %10.0f %9.0f%% %10.0f %10v %10v %10.0f %12d", h, normal.perSecond(normal.good), good.perSecond(good.good),
		100*good.perSecond(good.good)/normal.perSecond(normal.good), good.perSecond(good.refused), normal.quantile(0.99), good.quantile(0.99), peak, connected)
	if peak > mostMemory {
		t.Errorf("%.0f MiB of memory, limit %d", peak, mostMemory)
	}
	if good.good == 0 && len(h.flags) == 0 {
		t.Error("no request of another client was answered")
	}
	if after := visitors.visit(t, edge, each/2); after.good == 0 {
		t.Error("no request was answered after the attack")
	}
	if status := edge.End(os.Interrupt); status != 0 {
		t.Errorf("the edge ended with status %d.\n%s", status, edge.Printed())
	}
}
