package docstore

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"
)

const (
	// purgeTime is how long after a deletion sweeps look for what belonged to the document, in the
	// store's time. It is longer than any call may run, so they find what a call from before the
	// deletion has added.
	purgeTime = 5 * time.Minute
	// tickMargin is how long a tombstone stays after the tick of its id has passed: more than the
	// clocks of processes differ. Until then, a source may draw the id.
	tickMargin = 24 * time.Hour
	// sweepBatch is how many tombstones a sweep holds at a time.
	sweepBatch = 100
)

func (c *core) sweep(ctx context.Context, keep time.Duration, purge func(ctx context.Context, id Value) error) error {
	var failed []error
	for after := Moment(0); ; {
		due, now, err := c.table.Tombstones(ctx, after, sweepBatch)
		if err != nil {
			return c.wrap("sweep", errors.Join(append(failed, err)...))
		}
		for _, each := range due {
			if err := c.sweepOne(ctx, each, now, keep, purge); err != nil && !errors.Is(err, ErrNotFound) {
				failed = append(failed, fmt.Errorf("sweep %v: %w", each.ID, err))
			}
			after = each.Due
		}
		if len(due) < sweepBatch || ctx.Err() != nil {
			return c.wrap("sweep", errors.Join(append(failed, ctx.Err())...))
		}
	}
}

func (c *core) sweepOne(ctx context.Context, t Tombstone, now Moment, keep time.Duration,
	purge func(context.Context, Value) error) error {
	if !t.IsClear && purge != nil {
		if err := purge(ctx, t.ID); err != nil {
			return err
		}
	}
	end := t.At.Time().Add(keep)
	if c.spec.Scheme != nil && t.ID.Kind() == Int64 {
		if drawn := c.spec.Scheme.TimeOf(t.ID.Int64()).Add(tickMargin); drawn.After(end) {
			end = drawn
		}
	}
	switch isPurged := purge == nil || now.Time().Sub(t.At.Time()) >= purgeTime; {
	case !t.IsClear && !isPurged:
		return nil
	case now.Time().Before(end):
		return c.table.Postpone(ctx, t, MomentOf(end))
	}
	return c.table.Forget(ctx, t)
}

func (c *core) now(ctx context.Context) (time.Time, error) {
	_, now, err := c.table.Tombstones(ctx, math.MaxUint64, 1)
	return now.Time(), c.wrap("read the time", err)
}
