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

// pause returns how long a number has to wait for its time.
func (c *Counter) pause(number int64) time.Duration {
	at := time.UnixMilli(((number-c.allowed)*1000 + allowed.perSecond - 1) / allowed.perSecond)
	return at.Sub(c.numbers.now())
}

// call is a call that waits for numbers.
type call struct {
	count int64
	done  chan struct{}
	first int64
	err   error
}

// Next draws numbers that follow each other, and returns the first. They are above all that were drawn before
// the call. Errors: an *apierror.Error with the reason IDENTIFIERS_USED_UP.
func (c *Counter) Next(ctx context.Context, count int) (first int64, err error) {
	waiting := &call{count: int64(count), done: make(chan struct{})}
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
	if len(c.waiting) == 0 && !c.isDrawing && c.end-c.next >= waiting.count && c.pause(c.next+waiting.count-1) <= 0 {
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
	time.Sleep(c.pause(c.next + waiting.count - 1))
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
