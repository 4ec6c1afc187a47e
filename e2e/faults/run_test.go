//go:build linux

package faults

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/waybook/waybook/e2e/faults/history"
)

// share is how many operations must be answered before a fault, and again after it.
const share = 100

// run is one fleet under load while faults occur.
type run struct {
	t       *testing.T
	fleet   *fleet
	world   *world
	clients *clients
	history *history.History
	random  *rand.Rand
	outage  time.Duration
	workers []*worker
	stop    func()
}

// result is the result of a run.
type result struct {
	shape            shape
	fault            string
	seed             uint64
	answered, failed int64
	slowest          time.Duration
	violations       []history.Violation
}

// perform performs a run with a fault.
func perform(t *testing.T, f fault, seed uint64, outage time.Duration) result {
	r := begin(t, f, seed, outage)
	r.carry()
	f.happen(r)
	r.carry()
	r.finish()
	c := r.clients
	return result{
		f.shape, f.name, seed, c.answered.Load(), c.failed.Load(), time.Duration(c.slowest.Load()), r.history.Check(),
	}
}

// begin starts a fleet and its load. changes modify the workers before they start.
func begin(t *testing.T, f fault, seed uint64, outage time.Duration, changes ...func(*worker)) *run {
	fleet, h := startFleet(t, f.shape), history.New()
	r := &run{
		t: t, fleet: fleet, history: h, world: makeWorld(t, fleet, h), random: rand.New(rand.NewPCG(seed, 0)), outage: outage,
		clients: newClients(t, fleet, h, max(outage, longestHold), f.excuses),
	}
	r.clients.recovery = time.Duration(number(t, recoveryVariable, uint64(recovery/time.Second))) * time.Second
	ctx, cancel := context.WithCancel(t.Context())
	var working sync.WaitGroup
	r.stop = func() {
		cancel()
		working.Wait()
	}
	t.Cleanup(r.stop)
	for n, u := range r.world.users {
		w := &worker{clients: r.clients, world: r.world, user: u, random: rand.New(rand.NewPCG(seed, uint64(n)+1))}
		for _, change := range changes {
			change(w)
		}
		r.workers = append(r.workers, w)
		working.Go(func() { w.work(ctx) })
	}
	return r
}

// carry waits until the fleet has answered share more operations, and reports a violation if it
// does not.
func (r *run) carry() {
	goal := r.clients.answered.Load() + share
	deadline := time.Now().Add(r.clients.recovery + r.outage)
	for r.clients.answered.Load() < goal {
		if time.Now().After(deadline) {
			r.clients.complain(history.Idle, "the fleet does not carry the load")
			return
		}
		pause(r.t.Context(), time.Millisecond)
	}
}

// finish ends the load, kills and restarts all programs once more, and reads all data.
func (r *run) finish() {
	r.stop()
	r.clients.settle(r.t.Context(), r.world, r.workers)
	r.fleet.restart(r.t)
	r.clients.readAll(r.t.Context(), r.world)
}

// hold waits while a fault lasts, for a random time.
func (r *run) hold(least, most time.Duration) {
	pause(r.t.Context(), least+time.Duration(r.random.Int64N(int64(most-least))))
}
