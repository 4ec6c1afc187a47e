package mongowire

import (
	"context"
	"sync"
	"time"
)

// FaultKind is what happens to a command.
type FaultKind int

// The faults of a command.
const (
	// Pass lets the command pass.
	Pass FaultKind = iota
	// CutBefore closes the connection instead of executing the command.
	CutBefore
	// CutAfter executes the command and closes the connection instead of replying.
	CutAfter
	// NotPrimary refuses the command as NotWritablePrimary, code 10107. A retryable write gets
	// the label RetryableWriteError. The driver looks for a primary and finds this server.
	NotPrimary
	// Refuse refuses the command with the code and the name of the fault.
	Refuse
	// Unacknowledged executes the command and adds a write concern error with the code and the
	// name of the fault to a successful reply.
	Unacknowledged
)

// Fault is a fault of one command.
type Fault struct {
	Kind FaultKind
	// Code and Name are those of MongoDB's error_codes.yml.
	Code int32
	Name string
	// Hold, unless nil, holds the command back until it is closed. Then the fault happens.
	// Other commands pass.
	Hold <-chan struct{}
}

// await waits until the command may go on, or ctx ends.
func (f Fault) await(ctx context.Context) {
	if f.Hold == nil {
		return
	}
	select {
	case <-f.Hold:
	case <-ctx.Done():
	}
}

// Latency is how much longer commands take. It passes after the command was executed, and
// does not delay other commands.
type Latency struct {
	Read, Write time.Duration
}

func (l *Latency) of(command Command) time.Duration {
	switch command.class() {
	case read:
		return l.Read
	case write:
		return l.Write
	}
	return 0
}

// SetLatency sets the latency of the commands that follow.
func (s *Server) SetLatency(latency Latency) { s.latency.Store(&latency) }

// faults decides the fault of each command.
type faults struct {
	mu     sync.Mutex
	choice func(Command) Fault
}

// SetFaults sets the function that decides the fault of each command that follows, in the
// order in which they arrive. The function is called once at a time. nil means no faults.
func (s *Server) SetFaults(choose func(Command) Fault) {
	s.faults.mu.Lock()
	defer s.faults.mu.Unlock()
	s.faults.choice = choose
}

func (f *faults) choose(command Command) Fault {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.choice == nil {
		return Fault{}
	}
	return f.choice(command)
}
