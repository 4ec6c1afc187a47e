package smallids

import (
	"context"
	"slices"
	"time"
)

// drawTimeout bounds a write that takes numbers, which may be for several calls.
const drawTimeout = 30 * time.Second

// growth is an amount that grows, up to a burst if none of it is used.
type growth struct{ perSecond, burst int64 }

// by returns how much there is more than at the Unix epoch.
func (g growth) by(now time.Time) int64 { return g.perSecond * now.UnixMilli() / 1000 }

// reaches returns after how many milliseconds it has grown by an amount.
func (g growth) reaches(amount int64) int64 { return (amount*1000 + g.perSecond - 1) / g.perSecond }

// pause returns how long the last number of a call has to wait for its time. If it is far off, the clock of another
// process is ahead, or this one's has stood still: then the call waits as if it were alone.
func (c *Counter) pause(waiting *call) time.Duration {
	at := time.UnixMilli(allowed.reaches(c.next + waiting.count - 1 - c.allowed))
	alone := time.Duration(allowed.reaches(waiting.count)) * time.Millisecond
	if pause := at.Sub(c.numbers.now()); pause <= maxAhead+alone {
		return pause
	}
	return alone
}

// call is a call that waits for numbers, until done or gone is closed.
type call struct {
	count int64
	gone  <-chan struct{}
	done  chan struct{}
	first int64
	err   error
}

// Next draws numbers that follow each other, and returns the first. They are above all that were drawn before
// the call. Errors: an *apierror.Error with the reason IDENTIFIERS_USED_UP.
func (c *Counter) Next(ctx context.Context, count int) (first int64, err error) {
	waiting := &call{count: int64(count), gone: ctx.Done(), done: make(chan struct{})}
	if c.enter(waiting) {
		go c.drawAll(context.WithoutCancel(ctx)) // for others, too, whose calls may last longer
	}
	select {
	case <-waiting.done:
		return waiting.first, waiting.err
	case <-ctx.Done():
		c.leave(waiting)
		return 0, ctx.Err()
	}
}

// enter gives a call its numbers if enough were taken ahead and their time has come. Otherwise the call waits; isFirst
// is true if nobody draws for it: then the caller begins to.
func (c *Counter) enter(waiting *call) (isFirst bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.waiting) == 0 && !c.isDrawing && c.end-c.next >= waiting.count && c.pause(waiting) <= 0 {
		c.serve(waiting)
		return false
	}
	c.waiting = append(c.waiting, waiting)
	isFirst, c.isDrawing = !c.isDrawing, true
	return isFirst
}

// leave removes a call if it still waits.
func (c *Counter) leave(waiting *call) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if at := slices.Index(c.waiting, waiting); at >= 0 {
		c.waiting = slices.Delete(c.waiting, at, at+1)
	}
}

func (c *Counter) serve(waiting *call) {
	waiting.first = c.next
	c.next += waiting.count
	close(waiting.done)
}

// drawAll draws for the calls that wait until there are none. Those that came during a draw get what is left of it.
func (c *Counter) drawAll(ctx context.Context) {
	for {
		c.mu.Lock()
		waiting, count := c.waiting, int64(0)
		c.waiting, c.isDrawing = nil, len(waiting) > 0
		for _, each := range waiting {
			count += each.count
		}
		isTaken := c.end-c.next >= count
		c.mu.Unlock()
		if len(waiting) == 0 {
			return
		}
		var err error
		if !isTaken {
			err = c.take(ctx, count)
		}
		for _, each := range waiting {
			c.finish(each, err)
		}
	}
}

// finish gives a call numbers that were taken for it when their time has come.
func (c *Counter) finish(waiting *call, err error) {
	if err == nil && c.end-c.next < waiting.count {
		err = errUsedUp()
	}
	if err != nil {
		waiting.err = err
		close(waiting.done)
		return
	}
	select {
	case <-time.After(c.pause(waiting)):
	case <-waiting.gone:
		return // the numbers are the next call's
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.serve(waiting)
}

// take takes numbers from the store.
func (c *Counter) take(ctx context.Context, count int64) error {
	if c.isUsedUp {
		return errUsedUp()
	}
	ctx, cancel := context.WithTimeout(ctx, drawTimeout)
	defer cancel()
	count += c.numbers.ahead
	before, err := c.advance(ctx, count)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.end != before+1 { // otherwise nobody drew in between, and what is left goes first
		c.next = before + 1
	}
	c.end = min(before+count, Max) + 1
	c.isUsedUp = before >= Max
	c.report(before + count)
	return nil
}
