package desk

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/waybook/waybook/internal/pause"
	"github.com/waybook/waybook/internal/platform/attempts"
	"github.com/waybook/waybook/internal/platform/service"
	"github.com/waybook/waybook/moving/send"
)

// mostDeletions is how many deletions of a kind are remembered, the latest.
const mostDeletions = 500

// deletion is a deletion that a feed has shown.
type deletion struct {
	ID   int64     `json:"id"`
	Time time.Time `json:"time"`
}

// deleted is what the page shows.
type deleted struct {
	// KeptSeconds is for how long feeds show a deletion: the shortest time of all programs, and 0 if none reports it.
	KeptSeconds float64    `json:"kept_seconds"`
	Feeds       []seenFeed `json:"feeds"`
}

// seenFeed is what a feed of changes has shown, from the first deletion on that it can still show.
type seenFeed struct {
	// Kind is user, album, entry or landmark.
	Kind string `json:"kind"`
	// Read counts the changes, and IsLive says that those until now were read.
	Read   int64 `json:"read"`
	IsLive bool  `json:"is_live"`
	// Deletions are the latest ones, in their order, and Count is the number of all.
	Deletions []deletion `json:"deletions"`
	Count     int64      `json:"count"`
	// Failure is why the last call failed.
	Failure *Failure `json:"failure,omitempty"`
}

// followers follow the feeds of changes from the first time that somebody asks until the Desk ends. They are
// safe for concurrent use.
type followers struct {
	once    sync.Once
	running sync.WaitGroup

	mu    sync.Mutex
	feeds []*seenFeed
	// shortest and longest are for how long the programs show deletions; 0 if none reports it.
	shortest, longest time.Duration
}

// deleted returns what was deleted. The first call begins to follow the feeds.
func (d *Desk) deleted(context.Context) deleted {
	d.followers.once.Do(d.startFollowers)
	return d.followers.seen()
}

// seen returns what the feeds have shown, without the deletions that they do not show any more.
func (f *followers) seen() deleted {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := deleted{KeptSeconds: f.shortest.Seconds(), Feeds: make([]seenFeed, len(f.feeds))}
	for i, feed := range f.feeds {
		now.Feeds[i] = *feed
		now.Feeds[i].Deletions = slices.DeleteFunc(slices.Clone(feed.Deletions), func(each deletion) bool {
			return f.longest > 0 && time.Since(each.Time) > f.longest
		})
	}
	return now
}

// askKept asks the programs for how long their feeds show deletions, and returns from when on they do.
func (d *Desk) askKept(ctx context.Context) time.Time {
	programs := d.state(ctx).Programs
	d.followers.mu.Lock()
	defer d.followers.mu.Unlock()
	for _, program := range programs {
		if seconds, isThere := program.Metrics[keptMetric]; isThere {
			kept := time.Duration(seconds * float64(time.Second))
			d.followers.longest = max(d.followers.longest, kept)
			d.followers.shortest = min(cmp.Or(d.followers.shortest, kept), kept)
		}
	}
	return time.Now().Add(-cmp.Or(d.followers.longest, service.DefaultKept))
}

// startFollowers starts a follower of each feed.
func (d *Desk) startFollowers() {
	for _, each := range send.Feeds(d.config.Services) {
		feed := &seenFeed{Kind: string(each.Kind), Deletions: []deletion{}}
		d.followers.feeds = append(d.followers.feeds, feed)
		d.followers.running.Go(func() { d.follow(d.ctx, feed, each) })
	}
	slices.SortFunc(d.followers.feeds, func(a, b *seenFeed) int { return strings.Compare(a.Kind, b.Kind) })
}

// follow reads a feed until ctx ends. It repeats calls that fail, and begins anew if the feed says so.
func (d *Desk) follow(ctx context.Context, feed *seenFeed, of send.Feed) {
	for token := ""; ctx.Err() == nil; {
		var start *timestamppb.Timestamp
		if token == "" {
			start = timestamppb.New(d.askKept(ctx))
		}
		page, err := of.Page(ctx, token, start, send.WithoutContent)
		d.followers.mu.Lock()
		if err == nil {
			token = page.Next
			feed.take(page)
		} else {
			feed.Failure = new(d.config.Describe(ctx, err))
			if attempts.ReasonOf(err) == "START_ANEW" {
				token = ""
				*feed = seenFeed{Kind: feed.Kind, Deletions: []deletion{}}
			}
		}
		d.followers.mu.Unlock()
		if err != nil && pause.For(ctx, eventPause) != nil {
			return
		}
	}
}

// take adds a page.
func (f *seenFeed) take(page send.FeedPage) {
	f.Failure = nil
	f.Read += int64(len(page.Changes))
	f.IsLive = f.IsLive || !page.HasMore
	for _, each := range page.Changes {
		if each.IsDeleted() {
			f.Count++
			f.Deletions = append(f.Deletions, deletion{each.ID, each.GetChangeTime().AsTime()})
		}
	}
	f.Deletions = slices.Delete(f.Deletions, 0, max(0, len(f.Deletions)-mostDeletions))
}
