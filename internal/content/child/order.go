package child

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/id"
)

// The children of a parent are in the order in which they were added (rules 4.11, 5.9, 14.1),
// although the clocks of processes differ. So the parent holds the highest id of its children so
// far. A write raises it before a child is stored, and an id is used only if it is above all
// before. Calls of one process that add to the same parent at the same time share that write.

// raiseTimeout bounds a write that raises the highest id, which may be for several calls.
const raiseTimeout = 30 * time.Second

// addition is a child whose id a call waits for.
type addition struct {
	// after is a lower bound of the id, and taken is how many in a row were taken; see
	// id.Source.Next.
	after int64
	taken int

	done chan struct{}
	id   int64
	err  error
}

// under says to which parent, and as whom, calls add. 0 stands for a user whom the parent does not
// name.
type under struct{ parentID, actorID int64 }

// queue has the additions that wait while ids are drawn for others. It may be used concurrently.
type queue struct {
	mu      sync.Mutex
	waiting map[under][]*addition
}

// enter adds an addition. isFirst is true if no other caller draws for it: then this one begins
// to.
func (q *queue) enter(to under, a *addition) (isFirst bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.waiting == nil {
		q.waiting = map[under][]*addition{}
	}
	waiting, isBusy := q.waiting[to]
	q.waiting[to] = append(waiting, a)
	return !isBusy
}

// leave removes an addition if it still waits.
func (q *queue) leave(to under, a *addition) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if at := slices.Index(q.waiting[to], a); at >= 0 {
		q.waiting[to] = slices.Delete(q.waiting[to], at, at+1)
	}
}

// next returns the additions that wait. If there are none, the next one to enter is the first.
func (q *queue) next(to under) []*addition {
	q.mu.Lock()
	defer q.mu.Unlock()
	waiting := q.waiting[to]
	if q.waiting[to] = nil; len(waiting) == 0 {
		delete(q.waiting, to)
	}
	return waiting
}

// draw draws the ids for a child of a parent. See Add.
func (s *Set[P, C]) draw(ctx context.Context, to under) docstore.Draw {
	return func(after int64, taken int) (int64, error) {
		a := &addition{after: after, taken: taken, done: make(chan struct{})}
		if s.queue.enter(to, a) {
			go s.drawAll(context.WithoutCancel(ctx), to) // for others, too, whose calls may last longer
		}
		select {
		case <-a.done:
			return a.id, a.err
		case <-ctx.Done():
			s.queue.leave(to, a)
			return 0, ctx.Err()
		}
	}
}

// drawAll draws the ids of the additions that wait until there are none.
func (s *Set[P, C]) drawAll(ctx context.Context, to under) {
	for waiting := s.queue.next(to); len(waiting) > 0; waiting = s.queue.next(to) {
		err := s.drawFor(ctx, to, waiting)
		for _, a := range waiting {
			a.err = err
			close(a.done)
		}
	}
}

// drawFor gives additions ids above all earlier ones of the parent.
func (s *Set[P, C]) drawFor(ctx context.Context, to under, additions []*addition) error {
	ctx, cancel := context.WithTimeout(ctx, raiseTimeout)
	defer cancel()
	for after := int64(0); ; {
		latest, err := s.identify(ctx, to.parentID, additions, after)
		if err != nil {
			return err
		}
		parent, err := s.Parents.RaiseBy(ctx, to.actorID, to.parentID,
			docstore.Amount{Field: s.LatestField, By: latest}, s.changed())
		if err == nil && to.actorID == 0 {
			err = s.Parents.Visible(ctx, &parent, to.parentID)
		}
		before := *s.Latest(&parent)
		if err != nil || before < additions[0].id {
			return err
		}
		after = max(latest, before) // another process, whose clock is ahead, has added one
	}
}

// identify draws ids for additions above one, and returns the last.
func (s *Set[P, C]) identify(ctx context.Context, parentID int64, additions []*addition,
	after int64) (latest int64, err error) {
	if s.Small != nil {
		return s.identifySmall(ctx, parentID, additions, after)
	}
	for _, a := range additions {
		if a.id, err = s.IDs.Next(id.PlaceOf(parentID), max(after, a.after), a.taken); err != nil {
			return 0, err
		}
		after = a.id
	}
	return after, nil
}

// identifySmall is identify with small identifiers. All earlier ones are below those that are
// drawn.
func (s *Set[P, C]) identifySmall(ctx context.Context, parentID int64, additions []*addition,
	after int64) (latest int64, err error) {
	first, err := s.Small.Next(ctx, len(additions))
	if err != nil {
		return 0, err
	}
	for i, a := range additions {
		a.id = id.OfOld(first+int64(i), id.PlaceOf(parentID))
		if a.id <= max(after, a.after) {
			return 0, fmt.Errorf("the next small identifier is %d, and %d has a child with a higher one",
				first+int64(i), parentID)
		}
	}
	return additions[len(additions)-1].id, nil
}
