package serve

import (
	"context"
	"errors"
	"fmt"
)

// Stack holds the started parts of a program. It stops them in reverse order, so a part can
// use its dependencies until it has stopped. Only one goroutine may use it.
type Stack struct {
	stops []stop
}

type stop struct {
	name string
	run  func(context.Context) error
}

// Push adds a started part and the function that stops it.
func (s *Stack) Push(name string, run func(context.Context) error) {
	s.stops = append(s.stops, stop{name, run})
}

// Go runs a function in a goroutine. The stop cancels its context and waits for it.
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

// Stop stops all parts, last first, and returns all errors. It stops each part even when
// ctx is done; the part then stops at once.
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
