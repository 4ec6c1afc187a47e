//go:build linux

package rolling

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/waybook/waybook/e2e/launch"
	"github.com/waybook/waybook/e2e/mongotest"
	"github.com/waybook/waybook/internal/longform"
)

// TestThePodsStayBelowTheirRequests measures what deploy/README.md, "Sizes and scaling", says of one
// pod of each program: its CPU and memory at each rate. The requested memory must suffice.
func TestThePodsStayBelowTheirRequests(t *testing.T) {
	longform.Only(t)
	fmt.Printf("%-9s %10s  %-8s  %10s  %10s  %10s\n", "store", "requests/s", "program", "CPU", "memory", "requested")
	t.Run("own stores", func(t *testing.T) { size(t, "embedded", launch.StoreEach, 50, 200, 1000) })
	// The server of the test takes the rest of the machine at more.
	t.Run("one database", func(t *testing.T) { size(t, "MongoDB", mongotest.StartReplicaSet(t), 50, 200) })
}

// size measures a pod of each program on a store at some rates.
func size(t *testing.T, store, mongoDB string, rates ...int) {
	fleet := launch.NewFleet(t, binaries, mongoDB).StartAll(1)
	reads, cookies := fill(t, fleet)
	edge := startRegistry(t)
	edge.add("edge", netip.MustParseAddrPort(fleet.Of("edge")[0].Address()))
	await(t, func() bool { return len(edge.known("edge")) > 0 })
	for _, rate := range rates {
		sizeAt(t, fleet, store, startCrowd(t, edge, mixture(reads, cookies), rate), rate)
	}
}

// sizeAt measures the pods while a crowd sends at a rate, and ends it.
func sizeAt(t *testing.T, fleet *launch.Fleet, store string, clients *crowd, rate int) {
	const duration = 30 * time.Second
	metric := func(name, of string) float64 {
		value, found := launch.Metric(t, fleet.Of(of)[0].Admin, name)
		if !found {
			t.Fatalf("%s has no metric %s", of, name)
		}
		return value
	}
	clients.awaitService(t)
	clients.lap()
	began, before, memory := time.Now(), map[string]float64{}, map[string]float64{}
	for _, name := range programs() {
		before[name] = metric("process_cpu_seconds_total", name)
	}
	for time.Since(began) < duration {
		time.Sleep(time.Second)
		for _, name := range programs() {
			memory[name] = max(memory[name], metric("process_resident_memory_bytes", name))
		}
	}
	seen, seconds := clients.lap(), time.Since(began).Seconds()
	for _, name := range programs() {
		requested := metric("go_gc_gomemlimit_bytes", name) // GOMEMLIMIT is the request in the manifests
		fmt.Printf("%-9s %10.0f  %-8s  %9.0fm  %6.0f MiB  %6.0f MiB\n", store, float64(seen.sent)/seconds, name,
			1000*(metric("process_cpu_seconds_total", name)-before[name])/seconds, memory[name]/(1<<20), requested/(1<<20))
		if memory[name] > requested {
			t.Errorf("%s takes %.0f bytes at %d requests per second and requests %.0f", name, memory[name], rate, requested)
		}
	}
	report(t, seen.failures)
	if len(seen.failures) > 0 {
		t.Errorf("%d of %d requests failed", len(seen.failures), seen.sent)
	}
	clients.stop()
}
