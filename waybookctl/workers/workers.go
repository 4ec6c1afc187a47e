// Package workers has several goroutines do what one hands out.
package workers

import (
	"cmp"
	"context"

	"golang.org/x/sync/errgroup"
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

// Run calls produce, and does each item that it puts, count of them at a time. It returns when all have ended, with
// the cause of ctx, the first error of do, or the error of produce. After an error of do, the others get a context that
// has ended, and so does produce, whose further puts fail.
func Run[T any](
	ctx context.Context, count int, produce func(ctx context.Context, put func(T) error) error, do func(context.Context, T) error,
) error {
	group, working := errgroup.WithContext(ctx)
	group.SetLimit(count)
	err := produce(working, func(item T) error {
		if working.Err() == nil {
			group.Go(func() error { return do(working, item) })
		}
		return context.Cause(working)
	})
	failed := group.Wait()
	return cmp.Or(context.Cause(ctx), failed, err)
}
