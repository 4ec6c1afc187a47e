//go:build linux

package faults

import (
	"os"
	"os/exec"
	"slices"
	"syscall"
	"time"

	"github.com/waybook/waybook/e2e/mongotest"
)

// fault is a temporary failure of a fleet.
type fault struct {
	name  string
	shape shape
	// excuses are failures that only this fault may cause.
	excuses []string
	// bite says how clients must notice the fault.
	bite   bite
	happen func(*run)
}

func (f fault) String() string { return string(f.shape) + ", " + f.name }

// bite says how clients are certain to notice a fault.
type bite int

const (
	// maySpare: retries or timing may hide the fault from all clients.
	maySpare bite = iota
	// fails: at least one request fails.
	fails
	// slows: at least one request takes as long as the fault.
	slows
)

// shortestHold is the minimum duration of a fault.
const shortestHold = 100 * time.Millisecond

func (f fault) hasBitten(r result) bool {
	switch f.bite {
	case fails:
		return r.failed > 0
	case slows:
		return r.slowest >= shortestHold/2
	default:
		return true
	}
}

// longestHold is the maximum duration of a fault other than an outage.
const longestHold = 1500 * time.Millisecond

// faults returns all known faults. Consecutive seeds select them in turn; the short form uses the
// first ones.
func faults() []fault {
	return []fault{
		{"kill", standalone, nil, fails, (*run).kill},
		{"reply lost", processes, nil, maySpare, (*run).loseReplies},
		{"disk full", standalone, []string{"INTERNAL_ERROR", "Internal"}, fails, (*run).fillDisk},
		{"kill", processes, nil, maySpare, (*run).kill},
		{"store gone", onMongoDB, nil, slows, (*run).loseStore},
		{"pause", processes, nil, slows, (*run).pauseProgram},
		{"reply lost", standalone, nil, fails, (*run).loseReplies},
		{"cut", processes, nil, maySpare, (*run).cut},
		{"cut", standalone, nil, fails, (*run).cut},
		{"delay", processes, nil, maySpare, (*run).delay},
		{"reset half way", standalone, nil, maySpare, (*run).breakHalfWay},
		{"throttle", processes, nil, maySpare, (*run).throttle},
		{"pause", standalone, nil, slows, (*run).pauseProgram},
		{"reset half way", processes, nil, maySpare, (*run).breakHalfWay},
		{"delay", standalone, nil, slows, (*run).delay},
		{"reply of the store lost", onMongoDB, nil, maySpare, (*run).loseStoreReplies},
		{"throttle", standalone, nil, maySpare, (*run).throttle},
		{"kill", onMongoDB, nil, maySpare, (*run).kill},
		{"pause", onMongoDB, nil, slows, (*run).pauseProgram},
		{"way to the store cut half way", onMongoDB, nil, maySpare, (*run).breakStoreHalfWay},
	}
}

// faultsOfRealServer returns the faults of a fleet on a real server, for TestOnARealServer.
func faultsOfRealServer() []fault {
	return []fault{
		{"the primary steps down", onRealServer, nil, maySpare, (*run).stepDown},
		{"the primary is killed", onRealServer, nil, maySpare, (*run).killPrimary},
		{"kill", onRealServer, nil, maySpare, (*run).kill},
		{"pause", onRealServer, nil, slows, (*run).pauseProgram},
	}
}

// times returns how often a fault happens in a run.
func (r *run) times() int { return 1 + r.random.IntN(3) }

func (r *run) anyProgram() *program {
	return r.fleet.programs[r.random.IntN(len(r.fleet.programs))]
}

func (r *run) anyHop() *hop { return r.fleet.hops[r.random.IntN(len(r.fleet.hops))] }

func (r *run) anyStoreHop() *hop {
	return r.fleet.storeHops[r.random.IntN(len(r.fleet.storeHops))]
}

func (r *run) shortly() { r.hold(0, 100*time.Millisecond) }

// victims returns all programs, including the database, in random order. A single program is
// returned several times.
func (r *run) victims() []*program {
	if len(r.fleet.programs) == 1 {
		return slices.Repeat(r.fleet.programs, r.times())
	}
	all := slices.Clone(r.fleet.programs)
	r.random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all
}

func (r *run) kill() {
	for _, p := range r.victims() {
		p.kill()
		r.shortly()
		p.start(r.t)
		r.carry()
	}
}

// stepDown makes primaries step down.
func (r *run) stepDown() {
	for range r.times() {
		if err := mongotest.StepDown(r.t.Context(), r.fleet.storeURI); err != nil {
			r.t.Fatal(err)
		}
		r.carry()
	}
}

// killPrimary runs the command of mongotest.RealServerKill with the address of the primary as its last argument.
func (r *run) killPrimary() {
	command := os.Getenv(mongotest.RealServerKill)
	if command == "" {
		r.t.Skipf("%s names no command that kills a member", mongotest.RealServerKill)
	}
	primary, err := mongotest.Primary(r.t.Context(), r.fleet.storeURI)
	if err != nil {
		r.t.Fatal(err)
	}
	if output, err := exec.CommandContext(r.t.Context(), "sh", "-c", command+` "$0"`, primary).CombinedOutput(); err != nil {
		r.t.Fatalf("%v: %s", err, output)
	}
}

func (r *run) pauseProgram() {
	for _, p := range r.victims() {
		p.process.Signal(syscall.SIGSTOP)
		r.hold(shortestHold, longestHold)
		p.process.Signal(syscall.SIGCONT)
		r.carry()
	}
}

// fillDisk rejects writes beyond a random offset in the store's file.
func (r *run) fillDisk() {
	// Most pages that a commit writes lie behind the limit. The file itself says nothing of
	// them, because it grows by megabytes at a time.
	const metaPages, mostPages = 2 * 4096, 32 * 4096
	p := r.anyProgram()
	limitFiles(r.t, p.process.PID(), uint64(metaPages+r.random.Int64N(mostPages)))
	r.awaitFailure()
	r.hold(shortestHold, longestHold)
	limitFiles(r.t, p.process.PID(), ^uint64(0))
}

// awaitFailure waits until a client has seen a failure. It ends after callBound, and after so many
// answers that the program does not notice the fault.
func (r *run) awaitFailure() {
	before, enough := r.clients.failed.Load(), r.clients.answered.Load()+20*share
	for deadline := time.Now().Add(callBound); r.clients.failed.Load() == before && time.Now().Before(deadline); {
		if r.clients.answered.Load() >= enough {
			return
		}
		pause(r.t.Context(), time.Millisecond)
	}
}
