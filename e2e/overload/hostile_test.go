package overload

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/waybook/waybook/e2e/launch"
)

const (
	// edgeMemory is the memory limit of an edge in the manifests, in MiB; goMemory is the request,
	// which the garbage collector keeps to.
	edgeMemory = 256
	goMemory   = "192MiB"
	// longList is the number of landmarks of a list of 2 MB, which fills every socket buffer.
	longList = 2000
)

// wideName takes 1,000 bytes in XML.
var wideName = strings.Repeat("&", 200)

// hostility is a run of the edge under attack.
type hostility struct {
	name    string
	attacks []attack
	flags   []string
}

// hostilities returns the runs of the test. Attackers have one address. With anyAddress, the limit
// per address is off, as for attackers that have as many addresses as connections.
func hostilities(l *load, isLong bool) []hostility {
	bombs, slowloris, readers := attack{1000, bomb}, attack{1000, dawdle}, attack{200, stopReading}
	overload := attack{2 * clients, l.logIn}
	all := []attack{bombs, slowloris, readers, overload}
	const anyAddress = "-max-client-connections=0"
	if !isLong {
		return []hostility{{name: "all", attacks: all}, {"all, any address", all, []string{anyAddress}}}
	}
	return []hostility{
		{name: "header bombs", attacks: []attack{bombs}},
		{name: "slowloris", attacks: []attack{slowloris}},
		{name: "slow readers", attacks: []attack{readers}},
		{name: "overload", attacks: []attack{overload}},
		{name: "all", attacks: all},
		{"header bombs, any address", []attack{bombs}, []string{anyAddress}},
		{"slowloris, any address", []attack{slowloris}, []string{anyAddress}},
		{"slow readers, any address", []attack{readers}, []string{anyAddress}},
		{"overload, any address", []attack{overload}, []string{anyAddress}},
		{"all, any address", all, []string{anyAddress}},
	}
}

// An edge with the memory of the manifests survives clients that want to end it, and serves others
// meanwhile. How many it serves is printed and not asserted.
func TestHostileClientsEndNoEdge(t *testing.T) {
	each, isLong := phase(t)
	binaries := t.TempDir()
	if err := launch.Build(binaries, launch.AsShipped, launch.Programs()...); err != nil {
		t.Fatal(err)
	}
	services := launch.StartServices(t, binaries, t.TempDir())
	logins := newLoad(t, "", launch.Dial(t, services["account"].GRPC))
	visitors := newVisitors(t, services)

	t.Logf("%-26s %10s %10s %10s %10s %10s %14s", "attack", "normal/s", "good/s", "goodput", "busy/s", "peak MiB", "connections/s")
	for _, h := range hostilities(logins, isLong) {
		edge := launch.StartEdge(t, binaries, services, []string{"GOMEMLIMIT=" + goMemory, "GOMAXPROCS=2"}, h.flags...)
		visitors.visit(t, edge, each/2) // warm
		normal := visitors.visit(t, edge, each)

		ctx, cancel := context.WithCancel(t.Context())
		besieged := besiege(ctx, edge.HTTP, h.attacks)
		visitors.visit(t, edge, each/2) // until the attackers have connected
		good := visitors.visit(t, edge, each)
		cancel()
		connected := besieged()

		if !edge.Alive() {
			t.Fatalf("%s: the edge has ended.\n%s", h.name, edge.Printed())
		}
		peak := launch.MemoryOf(t, edge).Peak
		t.Logf("%-26s %10.0f %10.0f %9.0f%% %10.0f %10.0f %14.0f", h.name, normal.perSecond(normal.good), good.perSecond(good.good),
			100*good.perSecond(good.good)/normal.perSecond(normal.good), good.perSecond(good.refused), peak, good.perSecond(connected)/2)
		if peak > edgeMemory {
			t.Errorf("%s: %.0f MiB of memory, limit %d", h.name, peak, edgeMemory)
		}
		if good.good == 0 && len(h.flags) == 0 {
			t.Errorf("%s: no request of another client was answered", h.name)
		}
		if after := visitors.visit(t, edge, each/2); after.good == 0 {
			t.Errorf("%s: no request was answered after the attack", h.name)
		}
		if status := edge.End(os.Interrupt); status != 0 {
			t.Errorf("%s: the edge ended with status %d.\n%s", h.name, status, edge.Printed())
		}
	}
}
