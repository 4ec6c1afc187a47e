// Package pause waits.
package pause

import (
	"context"
	"time"
)

// For waits, or returns the error of ctx as soon as ctx ends.
func For(ctx context.Context, wait time.Duration) error {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return ctx.Err()
	}
}
