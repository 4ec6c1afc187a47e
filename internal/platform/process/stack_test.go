package process_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/waybook/waybook/internal/platform/process"
)

func TestAStackStopsInReverseOrderDespiteErrors(t *testing.T) {
	var stack process.Stack
	var stopped []string
	broken := errors.New("broken")
	for _, name := range []string{"a", "b", "c"} {
		stack.Push(name, func(context.Context) error {
			stopped = append(stopped, name)
			if name == "b" {
				return broken
			}
			return nil
		})
	}
	if err := stack.Stop(t.Context()); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	if !slices.Equal(stopped, []string{"c", "b", "a"}) {
		t.Errorf("stopped %v", stopped)
	}
	if err := stack.Stop(t.Context()); err != nil {
		t.Errorf("a second stop: %v", err)
	}
}

func TestStoppingWaitsForAGoroutine(t *testing.T) {
	var stack process.Stack
	var isDone bool
	// The context of the start may end first, as a signal's does. Parts that stop later may
	// need the worker until its own turn.
	started, cancel := context.WithCancel(t.Context())
	stack.Go(started, "worker", func(ctx context.Context) {
		<-ctx.Done()
		isDone = true
	})
	stack.Push("user of the worker", func(context.Context) error {
		if isDone {
			t.Error("the worker ended before its user")
		}
		return nil
	})
	cancel()
	if err := stack.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !isDone {
		t.Error("the worker is not done")
	}
}

func TestStoppingWaitsForAGoroutineOnlyUntilTheDeadline(t *testing.T) {
	var stack process.Stack
	release := make(chan struct{})
	left := make(chan struct{})
	stack.Go(t.Context(), "stuck", func(context.Context) {
		defer close(left)
		<-release
	})
	isNextStopped := false
	stack.Push("next", func(context.Context) error {
		isNextStopped = true
		return nil
	})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := stack.Stop(ctx); !errors.Is(err, context.Canceled) || !isNextStopped {
		t.Errorf("got %v, next stopped: %v", err, isNextStopped)
	}
	close(release)
	<-left
}
