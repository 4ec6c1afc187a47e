package desk

import (
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
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// mostDeletions is how many deletions of a kind are remembered.
const mostDeletions = 500

// deletion is a deletion that a feed has shown.
type deletion struct {
	ID   int64     `json:"id"`
	Time time.Time `json:"time"`
}

// seenFeed is what a feed of changes has shown since the page was opened first.
type seenFeed struct {
	// Kind is user, album, entry or landmark.
	Kind string `json:"kind"`
	// Read counts the changes. A feed begins with all that exists, and IsLive says that it has shown that.
	Read   int64 `json:"read"`
	IsLive bool  `json:"is_live"`
	// Deletions are the latest ones first.
	Deletions []deletion `json:"deletions"`
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
}

// followDeleted sends what was deleted as server-sent events.
func (d *Desk) followDeleted(w http.ResponseWriter, r *http.Request) {
	d.followers.once.Do(d.startFollowers)
	d.sendEvents(w, r, func(context.Context) any {
		d.followers.mu.Lock()
		defer d.followers.mu.Unlock()
		seen := make([]seenFeed, len(d.followers.feeds))
		for i, feed := range d.followers.feeds {
			seen[i] = *feed
			seen[i].Deletions = slices.Clone(feed.Deletions)
		}
		return seen
	})
}

// changePage is a page of a feed.
type changePage struct {
	deletions []deletion
	count     int
	next      string
	hasMore   bool
}

// startFollowers starts a follower of each feed.
func (d *Desk) startFollowers() {
	services := d.config.Services
	for kind, list := range map[string]func(ctx context.Context, token string) (changePage, error){
		"user": func(ctx context.Context, token string) (changePage, error) {
			reply, err := services.Account.ListUserChanges(ctx, &accountv1.ListUserChangesRequest{PageSize: changesPage, PageToken: token})
			return pageIn(reply.GetChanges(), (*accountv1.UserChange).GetUserId, reply, err)
		},
		"album": func(ctx context.Context, token string) (changePage, error) {
			reply, err := services.Album.ListAlbumChanges(ctx, &albumv1.ListAlbumChangesRequest{PageSize: changesPage, PageToken: token})
			return pageIn(reply.GetChanges(), (*albumv1.AlbumChange).GetAlbumId, reply, err)
		},
		"entry": func(ctx context.Context, token string) (changePage, error) {
			reply, err := services.Blog.ListBlogChanges(ctx, &blogv1.ListBlogChangesRequest{PageSize: changesPage, PageToken: token})
			return pageIn(reply.GetChanges(), (*blogv1.BlogChange).GetBlogId, reply, err)
		},
		"landmark": func(ctx context.Context, token string) (changePage, error) {
			reply, err := services.Poi.ListPoiChanges(ctx, &poiv1.ListPoiChangesRequest{PageSize: changesPage, PageToken: token})
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
func (d *Desk) follow(ctx context.Context, feed *seenFeed, list func(ctx context.Context, token string) (changePage, error)) {
	for token := ""; ctx.Err() == nil; {
		page, err := list(ctx, token)
		d.followers.mu.Lock()
		if err == nil {
			token, feed.Failure = page.next, nil
			feed.Read += int64(page.count)
			feed.IsLive = feed.IsLive || !page.hasMore
			for _, each := range page.deletions {
				feed.Deletions = append([]deletion{each}, feed.Deletions[:min(len(feed.Deletions), mostDeletions-1)]...)
			}
		} else {
			feed.Failure = new(d.config.Describe(ctx, err))
			if isForgotten(err) {
				token, feed.IsLive = "", false
			}
		}
		d.followers.mu.Unlock()
		if err != nil && pause.For(ctx, eventPause) != nil {
			return
		}
	}
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
