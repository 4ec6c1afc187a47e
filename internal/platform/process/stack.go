package process

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// Stack holds the started parts of a program. It stops its ports first, all at the same time,
// and then the other parts in reverse order, so a part can use its dependencies until it has
// stopped. Only one goroutine may use it.
type Stack struct {
	notices []func()
	ports   []stop
	stops   []stop
}

type stop struct {
	name string
	run  func(context.Context) error
}

// Push adds a started part and the function that stops it.
func (s *Stack) Push(name string, run func(context.Context) error) {
	s.stops = append(s.stops, stop{name, run})
}

// PushPort adds a port. drain ends it once the requests in flight have ended, and cuts them off
// when its context ends, after DrainTime.
func (s *Stack) PushPort(name string, drain func(context.Context) error) {
	s.ports = append(s.ports, stop{name, drain})
}

// OnNotice adds a function that the stop calls first, while all parts still serve.
func (s *Stack) OnNotice(run func()) { s.notices = append(s.notices, run) }

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

// Notify tells the parts that the stop is near. Stop does so too. Each part is told once.
func (s *Stack) Notify() {
	for _, run := range s.notices {
		run()
	}
	s.notices = nil
}

// Stop drains the ports, stops all other parts, last first, and returns all errors. It stops each
// part even when ctx is done; the part then stops at once.
func (s *Stack) Stop(ctx context.Context) error {
	s.Notify()
	failed := s.drain(ctx)
	for len(s.stops) > 0 {
		last := s.stops[len(s.stops)-1]
		s.stops = s.stops[:len(s.stops)-1]
		failed = append(failed, last.end(ctx))
	}
	return errors.Join(failed...)
}

// drain ends all ports. Together they have DrainTime.
func (s *Stack) drain(ctx context.Context) []error {
	ctx, cancel := context.WithTimeout(ctx, DrainTime)
	defer cancel()
	failed := make([]error, len(s.ports))
	var draining sync.WaitGroup
	for n, port := range s.ports {
		draining.Go(func() { failed[n] = port.end(ctx) })
	}
	draining.Wait()
	s.ports = nil
	return failed
}

func (s stop) end(ctx context.Context) error {
	if err := s.run(ctx); err != nil {
		return fmt.Errorf("stop %s: %w", s.name, err)
	}
	return nil
}
