package rolling

import (
	"fmt"
	"os"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/waybook/waybook/e2e/manifestrun"
)

// drainsVariable is how many times all replicas of each program are drained, for the long form.
const drainsVariable = "WAYBOOK_DRAIN_ROUNDS"

// The short form drains each program once, at a rate that leaves room for other tests.
const shortRate, longRate = 200, 1000

// delay is the shutdown delay of the pods. It has the same relation to learning as that of the
// manifests to the caches of DNS servers.
const delay = 2 * learning

// seed fills the stores of services, and returns their directories and requests that read and write
// them.
func seed(t *testing.T) (stores map[string]string, requests []request) {
	t.Helper()
	fleet := manifestrun.New(t, binaries, manifestrun.StoreEach).StartAll(1)
	reads, cookies := fill(t, fleet)
	stores = map[string]string{}
	for _, name := range manifestrun.Services() {
		pod := fleet.Of(name)[0]
		if status := pod.End(syscall.SIGTERM); status != 0 {
			t.Fatalf("%s ended with status %d:\n%s", name, status, pod.Printed())
		}
		stores[name] = pod.Store
	}
	return stores, mixture(reads, cookies)
}

// rounds returns the number of rounds and the rate of requests per second.
func rounds(t *testing.T) (count, rate int) {
	t.Helper()
	value := os.Getenv(drainsVariable)
	if value == "" {
		return 1, shortRate
	}
	count, err := strconv.Atoi(value)
	if err != nil || count < 1 {
		t.Fatalf("%s is %q, not a number of rounds", drainsVariable, value)
	}
	return count, longRate
}

// TestNoRequestFailsWhileAllReplicasAreDrained evicts all pods of each program in turn. Clients keep
// their connections and repeat no request.
func TestNoRequestFailsWhileAllReplicasAreDrained(t *testing.T) {
	stores, requests := seed(t)
	count, rate := rounds(t)
	c := startCluster(t, delay, stores)
	clients := startCrowd(t, c.registry, requests, rate)
	fmt.Printf("%-8s  %-6s  %9s  %6s  %7s  %4s  %10s  %8s\n", "program", "rounds", "requests", "failed", "refused", "cut", "requests/s", "slowest")
	for _, name := range programs() {
		began := time.Now()
		clients.lap()
		for range count {
			c.drain(name)
		}
		c.awaitEnds()
		seen := clients.lap()
		fmt.Printf("%-8s  %-6d  %9d  %6d  %7d  %4d  %10.0f  %8s\n", name, count, seen.sent, len(seen.failures), seen.refused, seen.cut,
			float64(seen.sent)/time.Since(began).Seconds(), seen.slowest.Round(time.Millisecond))
		if seen.sent == 0 || len(seen.failures)+seen.refused+seen.cut > 0 {
			t.Errorf("%s: of %d requests, %d failed; %d connections were refused, and %d cut", name, seen.sent, len(seen.failures), seen.refused, seen.cut)
			report(t, seen.failures)
		}
	}
}

// TestAKilledPodFailsOnlyItsRequestsInFlight kills a pod of each program in turn.
func TestAKilledPodFailsOnlyItsRequestsInFlight(t *testing.T) {
	stores, requests := seed(t)
	count, rate := rounds(t)
	c := startCluster(t, 0, stores)
	clients := startCrowd(t, c.registry, requests, rate)
	fmt.Printf("%-8s  %-6s  %9s  %6s  %8s\n", "program", "kills", "requests", "failed", "slowest")
	for _, name := range programs() {
		clients.lap()
		var sum figures
		for n := range count {
			killed := c.running[name][n%replicas]
			before, after := c.kill(killed)
			seen := clients.lap()
			sum = figures{sum.requests + seen.sent, sum.failed + len(seen.failures), max(sum.slowest, seen.slowest)}
			for _, f := range seen.failures {
				isInFlight := f.began.Before(after) && f.ended.After(before)
				if !isInFlight || name == "edge" && f.edge != killed.endpoint.address {
					t.Errorf("%s: a request failed that was not in flight there", name)
					report(t, []failure{f})
				}
			}
		}
		fmt.Printf("%-8s  %-6d  %9d  %6d  %8s\n", name, count, sum.requests, sum.failed, sum.slowest.Round(time.Millisecond))
	}
}

// report prints the first failures.
func report(t *testing.T, failures []failure) {
	t.Helper()
	for _, f := range failures[:min(len(failures), 3)] {
		t.Logf("%s, after %v, by %s: %v", f.began.Format(time.StampMilli), f.ended.Sub(f.began), f.edge, f.err)
	}
}
