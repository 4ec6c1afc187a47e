package desk

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/waybook/waybook/internal/pause"
	"github.com/waybook/waybook/internal/platform/service"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
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

// followDeleted sends what was deleted as server-sent events.
func (d *Desk) followDeleted(w http.ResponseWriter, r *http.Request) {
	d.followers.once.Do(d.startFollowers)
	d.sendEvents(w, r, func(context.Context) any { return d.followers.seen() })
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

// changePage is a page of a feed.
type changePage struct {
	deletions []deletion
	count     int
	next      string
	hasMore   bool
}

// position is where a page of a feed begins: behind a token, or at a time.
type position struct {
	token string
	start *timestamppb.Timestamp
}

// startFollowers starts a follower of each feed.
func (d *Desk) startFollowers() {
	services := d.config.Services
	for kind, list := range map[string]func(ctx context.Context, from position) (changePage, error){
		"user": func(ctx context.Context, from position) (changePage, error) {
			reply, err := services.Account.ListUserChanges(ctx, &accountv1.ListUserChangesRequest{PageSize: changesPage, PageToken: from.token, StartTime: from.start})
			return pageIn(reply.GetChanges(), (*accountv1.UserChange).GetUserId, reply, err)
		},
		"album": func(ctx context.Context, from position) (changePage, error) {
			reply, err := services.Album.ListAlbumChanges(ctx, &albumv1.ListAlbumChangesRequest{PageSize: changesPage, PageToken: from.token, StartTime: from.start})
			return pageIn(reply.GetChanges(), (*albumv1.AlbumChange).GetAlbumId, reply, err)
		},
		"entry": func(ctx context.Context, from position) (changePage, error) {
			reply, err := services.Blog.ListBlogChanges(ctx, &blogv1.ListBlogChangesRequest{PageSize: changesPage, PageToken: from.token, StartTime: from.start})
			return pageIn(reply.GetChanges(), (*blogv1.BlogChange).GetBlogId, reply, err)
		},
		"landmark": func(ctx context.Context, from position) (changePage, error) {
			reply, err := services.Poi.ListPoiChanges(ctx, &poiv1.ListPoiChangesRequest{PageSize: changesPage, PageToken: from.token, StartTime: from.start})
			return pageIn(reply.GetChanges(), (*poiv1.PoiChange).GetPoiId, reply, err)
		},
	} {
		feed := &seenFeed{Kind: kind, Deletions: []deletion{}}
		d.followers.feeds = append(d.followers.feeds, feed)
		d.followers.running.Go(func() { d.follow(d.ctx, feed, list) })
	}
	slices.SortFunc(d.followers.feeds, func(a, b *seenFeed) int { return strings.Compare(a.Kind, b.Kind) })
}

// changesPage is how many changes a page of a feed has.
const changesPage = 1000

// change is a change of any kind.
type change interface {
	GetKind() typev1.ChangeKind
	GetChangeTime() *timestamppb.Timestamp
}

// pageIn returns a reply as a page.
func pageIn[Change change](changes []Change, id func(Change) int64, reply interface {
	GetNextPageToken() string
	GetHasMore() bool
}, err error) (changePage, error) {
	page := changePage{count: len(changes), next: reply.GetNextPageToken(), hasMore: reply.GetHasMore()}
	for _, each := range changes {
		if each.GetKind() == typev1.ChangeKind_CHANGE_KIND_DELETED {
			page.deletions = append(page.deletions, deletion{id(each), each.GetChangeTime().AsTime()})
		}
	}
	return page, err
}

// follow reads a feed until ctx ends. It repeats calls that fail, and begins anew if the feed says so.
func (d *Desk) follow(ctx context.Context, feed *seenFeed, list func(ctx context.Context, from position) (changePage, error)) {
	for from := (position{}); ctx.Err() == nil; {
		if from.token == "" {
			from.start = timestamppb.New(d.askKept(ctx))
		}
		page, err := list(ctx, from)
		d.followers.mu.Lock()
		if err == nil {
			from = position{token: page.next}
			feed.take(page)
		} else {
			feed.Failure = new(d.config.Describe(ctx, err))
			if isForgotten(err) {
				from = position{}
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
func (f *seenFeed) take(page changePage) {
	f.Failure = nil
	f.Read += int64(page.count)
	f.IsLive = f.IsLive || !page.hasMore
	f.Count += int64(len(page.deletions))
	f.Deletions = append(f.Deletions, page.deletions...)
	f.Deletions = slices.Delete(f.Deletions, 0, max(0, len(f.Deletions)-mostDeletions))
}

// isForgotten reports whether a follower has to start anew.
func isForgotten(err error) bool {
	for _, detail := range status.Convert(err).Details() {
		if info, isInfo := detail.(*errdetails.ErrorInfo); isInfo && info.GetReason() == "START_ANEW" {
			return true
		}
	}
	return false
}
