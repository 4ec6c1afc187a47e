// Package workers has several goroutines do what one hands out.
package workers

import (
	"context"
	"sync"
)

// Each has count workers do each of some items, as Run does.
func Each[T any](ctx context.Context, count int, items []T, do func(context.Context, T) error) error {
	return Run(ctx, count, func(_ context.Context, put func(T) error) error {
		for _, item := range items {
			if err := put(item); err != nil {
				return err
			}
		}
		return nil
	}, do)
}

// Run calls produce, and has count workers do each item that it puts. It returns when all of them
// have ended, with the first error of a worker, with the cause of ctx, or with the error of produce.
// After an error of a worker, the others get a context that has ended, and so does produce, whose
// further puts fail.
func Run[T any](
	ctx context.Context, count int, produce func(ctx context.Context, put func(T) error) error, do func(context.Context, T) error,
) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	items := make(chan T)
	var workers sync.WaitGroup
	for range count {
		workers.Go(func() {
			for item := range items {
				if err := do(ctx, item); err != nil {
					cancel(err)
				}
			}
		})
	}
	err := produce(ctx, func(item T) error {
		select {
		case items <- item:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	})
	close(items)
	workers.Wait()
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}
