package serve

import (
	"context"
	"errors"
	"fmt"
)

// Stack is what a program has started. It is stopped in reverse order, so that
// whatever is stopped can still use what it was built on. One goroutine uses it.
type Stack struct {
	stops []stop
}

type stop struct {
	name string
	run  func(context.Context) error
}

// Push adds something that has been started and how it is stopped.
func (s *Stack) Push(name string, run func(context.Context) error) {
	s.stops = append(s.stops, stop{name, run})
}

// Go runs a function in a goroutine; stopping cancels its context and waits for it.
func (s *Stack) Go(ctx context.Context, name string, run func(context.Context)) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan struct{})
	go func() {
		defer close(done)
		run(ctx)
	}()
	s.Push(name, func(stopCtx context.Context) error {
		cancel()
		select {
		case <-done:
			return nil
		case <-stopCtx.Done():
			return stopCtx.Err()
		}
	})
}

// Stop stops everything, last first, and returns all errors. Each part is told to
// stop even when ctx is done; it then does so at once.
func (s *Stack) Stop(ctx context.Context) error {
	var failed []error
	for len(s.stops) > 0 {
		last := s.stops[len(s.stops)-1]
		s.stops = s.stops[:len(s.stops)-1]
		if err := last.run(ctx); err != nil {
			failed = append(failed, fmt.Errorf("stop %s: %w", last.name, err))
		}
	}
	return errors.Join(failed...)
}
