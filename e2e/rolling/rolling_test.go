package rolling

import (
	"fmt"
	"os"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/waybook/waybook/e2e/manifestrun"
	"github.com/waybook/waybook/e2e/mongotest"
)

// roundsVariable is how many times every replica is replaced, for the long form.
const roundsVariable = "WAYBOOK_ROLLING_ROUNDS"

// TestNoRequestFailsWhileEachReplicaIsReplaced runs two replicas of each program, including the
// edge, on one store.
func TestNoRequestFailsWhileEachReplicaIsReplaced(t *testing.T) {
	rounds := 1
	if value := os.Getenv(roundsVariable); value != "" {
		var err error
		if rounds, err = strconv.Atoi(value); err != nil || rounds < 1 {
			t.Fatalf("%s is %q, not a number of rounds", roundsVariable, value)
		}
	}
	fleet := manifestrun.New(t, binaries, mongotest.StartReplicaSet(t)).StartAll(2)
	load := startLoad(t, fleet)
	load.await(t, 20)

	fmt.Printf("%-8s  %-7s  %8s  %6s  %10s\n", "program", "replica", "requests", "failed", "slowest")
	for range rounds {
		for _, name := range append(manifestrun.Services(), "edge") {
			for n, pod := range fleet.Of(name) {
				before := load.lap()
				replace(t, fleet, pod, load)
				load.await(t, 20)
				seen := load.since(before)
				fmt.Printf("%-8s  %-7d  %8d  %6d  %10s\n", name, n+1, seen.requests, seen.failed, seen.slowest.Round(time.Millisecond))
			}
		}
	}
	load.check(t)
}

// replace ends a pod under load and starts it again. A pod of a service ends without the preStop
// pause that lets callers notice, because callers retry. Clients of the edge do not retry, so the
// edge has its preStop pause: it is removed from the endpoints and answers its requests in flight
// before it ends.
func replace(t *testing.T, fleet *manifestrun.Fleet, pod *manifestrun.Pod, load *load) {
	t.Helper()
	address, clients := pod.Address(), min(connections(t, pod), callers(fleet, pod.Name))
	if pod.Name == "edge" {
		load.edges.remove(address)
	}
	if status := pod.End(syscall.SIGTERM); status != 0 {
		t.Errorf("%s ended with status %d:\n%s", pod.Name, status, pod.Printed())
	}
	load.await(t, 20) // the other replica carries the load alone for a while
	pod.Start()
	if pod.Name == "edge" {
		load.edges.add(address)
		clients = 1 // the number of its clients varies
	}
	awaitClients(t, pod, clients)
}
