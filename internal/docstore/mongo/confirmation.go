package mongo

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/waybook/waybook/internal/docstore"
)

// confirmation is the latest moment of Engine.clock at which a call began that a majority has
// acknowledged. Until then, the server that served it was the primary.
type confirmation struct{ last atomic.Int64 }

// confirmationOf returns the confirmation of a collection, which it shares with others on the same
// shard. It is nil if the collection is on several shards: no call confirms all of them. A collection
// on one shard shares it with none on a cluster, because each may be on a shard of its own.
func (e *Engine) confirmationOf(spec docstore.Spec) *confirmation {
	switch {
	case !e.isRouter:
		return &e.confirmed
	case spec.Sharding == docstore.OneShard:
		return &confirmation{}
	}
	return nil
}

// note notes that a majority has acknowledged a call that began at that time. The confirmation may
// be nil.
func (c *confirmation) note(began time.Duration) {
	if c == nil {
		return
	}
	for last := c.last.Load(); last < int64(began) && !c.last.CompareAndSwap(last, int64(began)); {
		last = c.last.Load()
	}
}

// isWithin reports whether a majority has acknowledged a call that began that recently.
func (c *confirmation) isWithin(staleness, now time.Duration) bool {
	last := c.last.Load()
	return last > 0 && now-time.Duration(last) < staleness
}

// write is Engine.call for a write. If it succeeds, a majority has acknowledged it.
func (t *table) write(ctx context.Context, do func() error) error {
	began := t.engine.clock()
	err := t.engine.call(ctx, do)
	if err == nil {
		t.confirmed.note(began)
	}
	return err
}
