package serve

import (
	"context"
	"errors"
	"sync/atomic"
	"time"
)

// pingTimeout bounds the readiness check of the store.
const pingTimeout = 2 * time.Second

// Readiness reports whether a program can take requests, and what a starting program
// does. It may be used concurrently.
type Readiness struct{ state atomic.Pointer[state] }

// state is what a program does. A ready program does nothing else, so it has no reason.
type state struct {
	unready error
	check   func(context.Context) error
}

// NewReadiness returns the readiness of a program that starts.
func NewReadiness() *Readiness {
	r := &Readiness{}
	r.state.Store(&state{unready: errors.New("starting")})
	return r
}

// Starting records a step of the start, such as "opening the collections".
func (r *Readiness) Starting(step string) {
	r.state.Store(&state{unready: errors.New("starting: " + step)})
}

// Err returns nil when the program can take requests.
func (r *Readiness) Err(ctx context.Context) error {
	now := r.state.Load()
	if now.unready != nil || now.check == nil {
		return now.unready
	}
	ctx, cancel := context.WithTimeout(ctx, pingTimeout)
	defer cancel()
	if err := now.check(ctx); err != nil {
		return errors.New("the store can't be reached")
	}
	return nil
}

// Ready marks the program as ready until its notice to stop. It is ready while check, which
// checks its dependencies, returns nil. check may be nil.
func (e Env) Ready(readiness *Readiness, check func(context.Context) error) {
	readiness.state.Store(&state{check: check})
	e.Stack.OnNotice(func() { readiness.state.Store(&state{unready: errors.New("stopping")}) })
}
