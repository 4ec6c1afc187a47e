package world

import (
	"context"
	"strings"
	"time"

	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/id"
	"github.com/waybook/waybook/internal/platform/smallids"
)

// smallFrom is the first number in a world with small identifiers, above the old ones of what is moved in.
const smallFrom = 1_000_000

// worldsForSmall is how many worlds there are for one with small identifiers.
const worldsForSmall = 4

// setting returns the setting of small identifiers for a program.
func (w *world) setting(now func() time.Time) *smallids.Setting {
	from := int64(0)
	if w.isSmall {
		from = smallFrom
	}
	return smallids.New(from, now, func(string, float64) {})
}

// shown returns the identifier that legacy clients see of one that callers do.
func (w *world) shown(identifier int64) int64 {
	if number, isNumber := id.Old(identifier); w.isSmall && isNumber {
		return number
	}
	return identifier
}

// isNamed reports whether a reply has named content.
func (w *world) isNamed(c *item) bool { return c.id >= id.Lowest || w.isSmall && c.id != 0 }

// stepped returns the skew of a clock after a step. With small identifiers, no program may start with a clock that is
// behind the one of before.
func (w *world) stepped(skew time.Duration) time.Duration {
	if w.isSmall {
		skew += w.upTo(time.Minute)
	} else {
		skew += w.upTo(20*time.Minute) - 10*time.Minute
	}
	w.mostAhead = max(w.mostAhead, skew)
	return skew
}

// lose says that a state is put back, and what came after it is lost. Nobody knows which identifiers that had, so no
// program may start with a clock that is behind those of before, from which they were drawn.
func (w *world) lose() {
	const lead = time.Second // how far few identifiers run ahead of the clock
	w.mayStart = time.Now().Add(w.mostAhead + lead)
}

// awaitClock waits until a program may start with a clock.
func (w *world) awaitClock(skew time.Duration) { time.Sleep(w.mayStart.Sub(time.Now().Add(skew))) }

// longestKept is how old a backup may be with small identifiers. The numbers that starts leave out are enough for a
// few restores of this age, or one of 36 hours.
const longestKept = 6 * time.Hour

// isTooOld reports whether a backup may not be restored in this world.
func (w *world) isTooOld(taken time.Time) bool { return w.isSmall && time.Since(taken) > longestKept }

// remote is a store from which no program takes numbers ahead, as others have it, too.
type remote struct {
	docstore.Engine
	opened string
}

// Open opens a collection.
func (r *remote) Open(ctx context.Context, spec docstore.Spec) (docstore.Table, error) {
	r.opened = spec.Name
	return r.Engine.Open(ctx, spec)
}

// IsLocal returns false to who has just opened counters. To all others it returns true: then callers read in an
// order that a seed repeats.
func (r *remote) IsLocal() bool { return !strings.HasSuffix(r.opened, smallids.Spec("").Name) }
