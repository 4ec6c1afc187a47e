//go:build linux

package rolling

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/waybook/waybook/internal/longform"
)

// roundsVariable is how many times all replicas of each program are drained, and a replica of each is
// killed, for the long form.
const roundsVariable = "WAYBOOK_ROLLING_ROUNDS"

// The short form drains each program once, at a rate that leaves room for other tests.
const shortRate, longRate = 200, 1000

// delay is the shutdown delay of the pods. It has the same relation to learning as that of the
// manifests to the caches of DNS servers.
const delay = 2 * learning

// rounds returns the number of rounds and the rate of requests per second.
func rounds(t *testing.T) (count, rate int) {
	t.Helper()
	value := os.Getenv(roundsVariable)
	if value == "" {
		return 1, shortRate
	}
	count, err := strconv.Atoi(value)
	if err != nil || count < 1 {
		t.Fatalf("%s is %q, not a number of rounds", roundsVariable, value)
	}
	return count, longRate
}

// TestACrowdOutlivesDrainsAndKills drains and kills pods while clients keep their connections and
// repeat no request.
func TestACrowdOutlivesDrainsAndKills(t *testing.T) {
	longform.Only(t)
	stores, requests := seed(t)
	count, rate := rounds(t)
	c := startCluster(t, delay, stores)
	clients := startCrowd(t, c.registry, requests, rate)
	t.Run("no request fails while all replicas of each program are drained", func(t *testing.T) { drainAll(t, c, clients, count) })
	t.Run("a killed pod fails only its requests in flight", func(t *testing.T) { killAll(t, c, clients, count) })
}

// drainAll evicts all pods of each program in turn, some rounds in a row.
func drainAll(t *testing.T, c *cluster, clients *crowd, rounds int) {
	fmt.Printf("%-8s  %-6s  %9s  %6s  %7s  %4s  %10s  %8s\n", "program", "rounds", "requests", "failed", "refused", "cut", "requests/s", "slowest")
	clients.awaitService(t)
	last := programs()[len(programs())-2:] // the last service, and the edge
	for _, name := range programs() {
		began := time.Now()
		clients.lap()
		for range rounds {
			c.drain(name)
		}
		if slices.Contains(last, name) || rounds > 1 { // in the short form, all services end together
			c.awaitEnds()
			clients.awaitService(t)
		}
		seen := clients.lap()
		fmt.Printf("%-8s  %-6d  %9d  %6d  %7d  %4d  %10.0f  %8s\n", name, rounds, seen.sent, len(seen.failures), seen.refused, seen.cut,
			float64(seen.sent)/time.Since(began).Seconds(), seen.slowest.Round(time.Millisecond))
		if len(seen.failures)+seen.refused+seen.cut > 0 {
			t.Errorf("%s: of %d requests, %d failed; %d connections were refused, and %d cut", name, seen.sent, len(seen.failures), seen.refused, seen.cut)
			report(t, seen.failures)
		}
	}
}

// killAll kills a pod of each program, some rounds in a row.
func killAll(t *testing.T, c *cluster, clients *crowd, rounds int) {
	fmt.Printf("%-6s  %9s  %6s  %4s  %6s  %7s  %8s\n", "kills", "requests", "failed", "cut", "dialed", "refused", "slowest")
	clients.awaitService(t)
	clients.lap()
	var kills []kill
	for n := range rounds {
		for _, name := range programs() {
			kills = append(kills, c.kill(c.running[name][n%replicas]))
		}
		// The callers find these pods again before the others are killed.
		await(t, c.isKnown)
	}
	seen := clients.lap()
	fmt.Printf("%-6d  %9d  %6d  %4d  %6d  %7d  %8s\n", len(kills), seen.sent, len(seen.failures), seen.cut, seen.dialed, seen.refused, seen.slowest.Round(time.Millisecond))
	for _, f := range seen.failures {
		if !slices.ContainsFunc(kills, func(k kill) bool { return k.explains(f) }) {
			t.Error("a request failed that was not in flight at a killed pod")
			report(t, []failure{f})
		}
	}
}

// report prints the first failures.
func report(t *testing.T, failures []failure) {
	t.Helper()
	for _, f := range failures[:min(len(failures), 3)] {
		t.Logf("%s, after %v, by %s: %v", f.began.Format(time.StampMilli), f.ended.Sub(f.began), f.edge, f.err)
	}
}
