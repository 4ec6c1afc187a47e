package integrity

import (
	"context"
	"errors"
	"time"

	"github.com/waybook/waybook/internal/pause"
)

const (
	// maxLooks bounds how often a check reads a parent with its children while the parent
	// changes.
	maxLooks = 8
	// firstPause is the pause after the second look. Each further pause is twice as long.
	firstPause = 5 * time.Millisecond
)

var (
	// errChanged ends a look at a parent that has changed since its first read.
	errChanged = errors.New("the parent has changed")
	// errBusy reports that a parent changed during every look.
	errBusy = errors.New("the parent does not rest")
)

// atRest examines a parent, through look, at a time when nobody changes it. look may be
// Observe or Update of the parents' collection. Errors: errBusy, and those of look and of
// examine.
func atRest[P any](
	ctx context.Context, parentID int64,
	look func(context.Context, int64, func(*P) error) error, examine func(*P) error,
) error {
	for try := range maxLooks {
		if err := backOff(ctx, try); err != nil {
			return err
		}
		isOld := false
		err := look(ctx, parentID, func(parent *P) error {
			if isOld {
				return errChanged
			}
			isOld = true
			return examine(parent)
		})
		if !errors.Is(err, errChanged) {
			return err
		}
	}
	return errBusy
}

// backOff waits before a look at a parent that has changed during the looks before.
func backOff(ctx context.Context, try int) error {
	if try < 2 {
		return ctx.Err()
	}
	return pause.For(ctx, firstPause<<(try-2))
}
