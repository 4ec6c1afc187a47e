//go:build linux

package rolling

import (
	"fmt"
	"net"
	"net/netip"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/waybook/waybook/e2e/launch"
)

const (
	// replicas is the number of pods of each program.
	replicas = 2
	// maxEnding is the number of pods that end at the same time. Edges that end are still connected to
	// each pod of a service, which takes 64 connections of an address, and here all edges have one.
	maxEnding = 20
)

// cluster runs the programs, each pod at an address of its own as Linux allows on loopback, and does
// what Kubernetes does with them: callers learn of an address late, and an eviction leaves all
// replicas but one ready, as the disruption budgets of the manifests want it.
type cluster struct {
	t        *testing.T
	fleet    *launch.Fleet
	registry *registry
	running  map[string][]*member
	// ending are the pods that have been told to end.
	ending []*member
	// addresses is the number of addresses given to pods.
	addresses int
}

// member is a pod with its endpoint.
type member struct {
	*launch.Pod
	endpoint *endpoint
}

// startCluster starts all programs. Each pod of a service starts with a copy of the service's store
// in stores.
func startCluster(t *testing.T, delay time.Duration, stores map[string]string) *cluster {
	t.Helper()
	c := &cluster{t: t, fleet: launch.NewFleet(t, binaries, launch.StoreEach), registry: startRegistry(t), running: map[string][]*member{}}
	c.fleet.DNS, c.fleet.ShutdownDelay, c.fleet.Stores = c.registry.server.LocalAddr().String(), delay, stores
	c.fleet.Ports = map[string]string{}
	for _, name := range programs() {
		_, port, err := net.SplitHostPort(launch.Address(t))
		if err != nil {
			t.Fatal(err)
		}
		c.fleet.Ports[name] = port
	}
	for _, name := range programs() {
		for range replicas {
			c.start(name)
		}
	}
	await(t, c.isKnown)
	return c
}

// programs returns the names of the programs, callers after those that they call.
func programs() []string { return append(launch.Services(), "edge") }

// start starts a pod at an address that no pod has had. It is ready from then on.
func (c *cluster) start(name string) *member {
	c.t.Helper()
	c.addresses++
	address := fmt.Sprintf("127.99.%d.%d:%s", c.addresses/250, c.addresses%250+1, c.fleet.Ports[name])
	m := &member{Pod: c.fleet.Start(name, address)}
	m.endpoint = c.registry.add(name, netip.MustParseAddrPort(address))
	c.running[name] = append(c.running[name], m)
	return m
}

// evict tells a pod to end. Callers hear of it later. Another pod starts meanwhile; the eviction is
// over when that is ready, so that the budget allows the next.
func (c *cluster) evict(m *member) {
	c.t.Helper()
	c.registry.remove(m.endpoint)
	m.Signal(syscall.SIGTERM)
	c.running[m.Name] = slices.DeleteFunc(c.running[m.Name], func(other *member) bool { return other == m })
	if c.ending = append(c.ending, m); len(c.ending) > maxEnding {
		c.awaitEnd(c.ending[0])
		c.ending = c.ending[1:]
	}
	c.start(m.Name)
}

// drain evicts all pods of a program, one after another, as fast as the budget allows.
func (c *cluster) drain(name string) {
	c.t.Helper()
	for _, m := range slices.Clone(c.running[name]) {
		c.evict(m)
	}
}

// kill is the end of a pod by SIGKILL: the program ran before, and had gone after.
type kill struct {
	of            string
	address       netip.AddrPort
	before, after time.Time
}

// explains reports whether a request failed because it was in flight at the killed pod. A request to
// a service is in flight there by way of any edge.
func (k kill) explains(f failure) bool {
	return f.began.Before(k.after) && f.ended.After(k.before) && (k.of != "edge" || f.edge == k.address)
}

// kill kills a pod's program, which starts again at the same address.
func (c *cluster) kill(m *member) kill {
	c.t.Helper()
	k := kill{of: m.Name, address: m.endpoint.address, before: time.Now()}
	m.End(syscall.SIGKILL)
	k.after = time.Now()
	c.registry.remove(m.endpoint)
	m.Pod.Start()
	m.endpoint = c.registry.add(m.Name, k.address)
	return k
}

// isKnown reports whether all callers have learned of all pods.
func (c *cluster) isKnown() bool {
	for _, members := range c.running {
		if slices.ContainsFunc(members, func(m *member) bool { return time.Since(m.endpoint.ready) <= learning }) {
			return false
		}
	}
	return true
}

// awaitEnds waits until the evicted pods have ended.
func (c *cluster) awaitEnds() {
	c.t.Helper()
	for _, m := range c.ending {
		c.awaitEnd(m)
	}
	c.ending = nil
}

func (c *cluster) awaitEnd(m *member) {
	c.t.Helper()
	if status := m.Wait(); status != 0 {
		c.t.Errorf("%s ended with status %d:\n%s", m.Name, status, m.Printed())
	}
}

// await waits until a condition holds.
func await(t *testing.T, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !holds(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the condition does not come true")
		}
	}
}
