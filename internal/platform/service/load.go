package service

import (
	"context"
	"flag"
	"strings"
	"sync"
	"time"

	"github.com/waybook/waybook/internal/platform/admission"
	"github.com/waybook/waybook/internal/platform/serve"
)

// longestWait is how long a call waits for its turn. It is well below the deadlines of
// callers, so that what is begun can still be of use.
const longestWait = 500 * time.Millisecond

// Load is how much each service of a program does at a time. The zero value is any.
type Load struct {
	// Calls are unary calls and Streams streaming calls, which are counted apart: a
	// stream lasts as long as its reader likes. As many again may wait.
	Calls, Streams int
}

// Register declares the flags, with their defaults.
func (l *Load) Register(flags *flag.FlagSet) {
	flags.IntVar(&l.Calls, "max-calls", 1024, "how many unary RPCs each service serves at a time, 0 for any number; as many wait for half a second, others are refused")
	flags.IntVar(&l.Streams, "max-streams", 512, "how many streaming RPCs each service serves at a time, 0 for any number; as many wait for half a second, others are refused")
}

// gates are those of the program's services, made when they are first called. Services
// have gates of their own because they call each other: one that is full of calls that
// wait for another must not keep that one from answering. They may be used concurrently.
type gates struct {
	load    Load
	metrics *serve.Metrics

	mu    sync.Mutex
	known map[string]pair
}

type pair struct{ calls, streams *admission.Gate }

func newGates(load Load, metrics *serve.Metrics) *gates {
	return &gates{load: load, metrics: metrics, known: map[string]pair{}}
}

// enterCall lets a unary call begin; leave is called at its end.
func (g *gates) enterCall(ctx context.Context, method string) (leave func(), err error) {
	calls := g.of(method).calls
	return calls.Leave, calls.Enter(ctx)
}

// enterStream does the same for a streaming call.
func (g *gates) enterStream(ctx context.Context, method string) (leave func(), err error) {
	streams := g.of(method).streams
	return streams.Leave, streams.Enter(ctx)
}

// of returns the gates of a method's service. Health checks and reflection have none:
// who looks after a program that has too much to do still wants an answer.
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

func limits(places int) admission.Limits {
	return admission.Limits{Places: places, Queue: places, Wait: longestWait}
}
