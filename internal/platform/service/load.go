package service

import (
	"flag"
	"strings"
	"sync"
	"time"

	"github.com/waybook/waybook/internal/platform/admission"
	"github.com/waybook/waybook/internal/platform/process"
)

// longestWait is how long a call may queue. It is well below callers' deadlines, so that a
// queued call still has time to finish.
const longestWait = 500 * time.Millisecond

// Load holds the concurrency limits of each service of a program. The zero value means no
// limits.
type Load struct {
	// Calls limits unary calls. Streams limits streaming calls, which have their own limit
	// because a stream lasts as long as its reader wants. As many calls again may queue.
	Calls, Streams int
}

// Register declares the flags, with their defaults.
func (l *Load) Register(flags *flag.FlagSet) {
	flags.IntVar(&l.Calls, "max-calls", 1024, "concurrency limit of each service for unary RPCs, 0 for none; as many again queue for up to half a second, others are rejected")
	flags.IntVar(&l.Streams, "max-streams", 512, "concurrency limit of each service for streaming RPCs, 0 for none; as many again queue for up to half a second, others are rejected")
}

// gates are the concurrency limits of the program's services, created on first use. Each
// service has its own, because services call each other. A service full of calls that wait
// for another one must not block that one. They may be used concurrently.
type gates struct {
	load    Load
	metrics *process.Metrics

	mu    sync.Mutex
	known map[string]pair
}

type pair struct{ calls, streams *admission.Gate }

func newGates(load Load, metrics *process.Metrics) *gates {
	return &gates{load: load, metrics: metrics, known: map[string]pair{}}
}

// of returns the gates of a method's service. Health checks and reflection have none, so
// operators can reach an overloaded program.
func (g *gates) of(method string) pair {
	rest, ours := strings.CutPrefix(method, "/waybook.")
	if !ours {
		return pair{}
	}
	name, _, _ := strings.Cut(rest, ".")
	g.mu.Lock()
	defer g.mu.Unlock()
	made, known := g.known[name]
	if !known {
		made = pair{admission.New(limits(g.load.Calls)), admission.New(limits(g.load.Streams))}
		g.known[name] = made
		g.metrics.CountGate(name+" calls", made.calls)
		g.metrics.CountGate(name+" streams", made.streams)
	}
	return made
}

func limits(slots int) admission.Limits {
	return admission.Limits{Slots: int64(slots), Queue: slots, Wait: longestWait}
}
