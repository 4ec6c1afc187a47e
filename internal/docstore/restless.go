package docstore

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// A document that changes again before its last change has settled is in no page of a feed for as long as
// that goes on. So a feed looks now and then at what has not settled. It shows the documents that it has
// found there in each look since a settling time, as they are at that moment, and once more when they rest.

// maxUnsettled is how many documents a look finds at most.
const maxUnsettled = 10_000

// restless are the documents that the looks of this process have found unsettled. The zero value is ready to
// use. It may be used concurrently.
type restless struct {
	mu sync.Mutex
	// first has of each document the first look in a row that found it.
	first map[Value]look
}

// look is when a look found a document, and the moment of its latest change then.
type look struct {
	at      time.Time
	changed Moment
}

// settled notes that pages have these changes.
func (r *restless) settled(changes []RawChange) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, change := range changes {
		delete(r.first, change.ID)
	}
}

// found notes what a look has found, and returns those that were found a settling time ago and have changed
// since, in the order of their ids.
func (r *restless) found(unsettled []RawChange, settling time.Duration) (moving []RawChange) {
	r.mu.Lock()
	defer r.mu.Unlock()
	all, now := make(map[Value]look, len(unsettled)), time.Now()
	for _, change := range unsettled {
		first, wasFound := r.first[change.ID]
		if !wasFound {
			first = look{now, change.At}
		}
		if all[change.ID] = first; now.Sub(first.at) >= settling && change.At != first.changed {
			moving = append(moving, change)
		}
	}
	r.first = all
	slices.SortFunc(moving, func(a, b RawChange) int { return a.ID.Compare(b.ID) })
	return moving
}

// showRestless adds the restless documents to a page that has room, in the order of their ids. If it has not
// for all of them, the follower goes on with the next page.
func (c *Collection[K, T]) showRestless(ctx context.Context, query FeedQuery, token *feedToken, settled Moment, page *FeedPage[K, T]) error {
	unsettled, err := c.table.Feed(ctx, FeedScan{After: FeedPosition{At: settled}, Limit: maxUnsettled, IsUnsettled: true})
	if err != nil {
		return err
	}
	used := 0
	for _, change := range c.restless.found(unsettled.Changes, c.SettlingTime()) {
		if !token.shown.IsNone() && change.ID.Compare(token.shown) <= 0 {
			continue
		}
		if page.More = len(page.Changes) >= query.Limit || used > MaxBatchBytes; page.More {
			break
		}
		token.shown = change.ID
		state, err := GetFrom(ctx, c.table, change.ID, Durable)
		if errors.Is(err, ErrNotFound) { // it is deleted by now
			continue
		}
		if err != nil {
			return err
		}
		change.Document, used = state, used+len(state)
		change.At = settled // so that the times of changes do not go back
		shown, err := c.feedChange(change, *token, query.WithDocuments, false)
		if err != nil {
			return err
		}
		page.Changes = append(page.Changes, shown)
	}
	if token.isWalking = page.More; !page.More {
		token.walked, token.shown = settled, Value{}
	}
	if unsettled.Chapter == 0 || used == 0 {
		return nil
	}
	// The documents were read after unsettled, so they may have changes that it does not know.
	latest, err := c.table.Feed(ctx, FeedScan{After: FeedPosition{At: settled}, Limit: 1, IsUnsettled: true})
	token.seen, token.chapter = latest.Seen, latest.Chapter
	return err
}
