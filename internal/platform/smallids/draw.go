package smallids

import (
	"context"
	"time"

	"github.com/waybook/waybook/internal/pause"
)

// growth is an amount that grows, up to a burst if none of it is used.
type growth struct{ perSecond, burst int64 }

// by returns how much there is more than at the Unix epoch.
func (g growth) by(now time.Time) int64 { return g.perSecond * now.UnixMilli() / 1000 }

// reaches returns after how many milliseconds it has grown by an amount.
func (g growth) reaches(amount int64) int64 { return (amount*1000 + g.perSecond - 1) / g.perSecond }

// Next draws numbers that follow each other, and returns the first. They are above all that were
// drawn before the call. Calls draw one after the other, and one that takes numbers from the store
// takes those of all that wait. Errors: an *apierror.Error with the reason IDENTIFIERS_USED_UP.
func (c *Counter) Next(ctx context.Context, count int) (first int64, err error) {
	wanted := int64(count)
	c.wanted.Add(wanted)
	defer c.wanted.Add(-wanted)
	select {
	case c.turn <- struct{}{}:
		defer func() { <-c.turn }()
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	if c.end-c.next < wanted {
		if err := c.take(ctx, wanted); err != nil {
			return 0, err
		}
	}
	if err := pause.For(ctx, c.wait(wanted)); err != nil {
		return 0, err // the numbers are the next call's
	}
	first = c.next
	c.next += wanted
	return first, nil
}

// wait returns how long a call has to wait for the time of its last number. If it is far off, the
// clock of another process is ahead, or this one's has stood still: then the call waits as if it
// were alone.
func (c *Counter) wait(count int64) time.Duration {
	at := time.UnixMilli(allowed.reaches(c.next + count - 1 - c.allowed))
	alone := time.Duration(allowed.reaches(count)) * time.Millisecond
	if wait := at.Sub(c.setting.now()); wait <= maxAhead+alone {
		return wait
	}
	return alone
}

// take takes numbers from the store for a call and those that wait.
func (c *Counter) take(ctx context.Context, wanted int64) error {
	if c.isUsedUp {
		return errUsedUp()
	}
	count := c.wanted.Load() + c.ahead
	before, err := c.advance(ctx, count)
	if err != nil {
		return err
	}
	if c.end != before+1 { // otherwise no other process drew in between, and the rest goes first
		c.next = before + 1
	}
	c.end = min(before+count, Max) + 1
	c.isUsedUp = before >= Max
	c.report(before + count)
	if c.end-c.next < wanted {
		return errUsedUp()
	}
	return nil
}
