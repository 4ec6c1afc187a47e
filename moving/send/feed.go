package send

import (
	"context"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/waybook/waybook/internal/id"
	"github.com/waybook/waybook/moving/movefile"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
	"github.com/waybook/waybook/waybookctl/retry"
	"github.com/waybook/waybook/waybookctl/workers"
)

// Change is what a feed says of a user, an album, an entry or a landmark, as it is now or deleted.
type Change struct {
	happened
	ID   int64
	kind movefile.Kind
	// old is the old identifier that ID does not tell. What follows is empty for users.
	old, etag string
	ownerID   int64
	isAsMoved bool
	// isMoved says that it came in by a move.
	isMoved bool
	// export writes it with what belongs to it.
	export func(context.Context, *personExport)
}

// happened is what the changes of all feeds have.
type happened interface {
	GetKind() typev1.ChangeKind
	GetChangeTime() *timestamppb.Timestamp
	GetParts() *typev1.PartRevisions
}

// IsDeleted reports a deletion.
func (c Change) IsDeleted() bool { return c.GetKind() == typev1.ChangeKind_CHANGE_KIND_DELETED }

// changesPage is how many changes a page has.
const changesPage = 1000

// Feed is the feed of changes of a kind.
type Feed struct {
	Kind movefile.Kind
	// Page returns the page behind a token, and without one, from a time on; all if that is nil, too.
	Page func(ctx context.Context, token string, start *timestamppb.Timestamp) (FeedPage, error)
}

// FeedPage is a page of a feed.
type FeedPage struct {
	Changes []Change
	// Next is the token of the next page, and HasMore says that it has changes now.
	Next    string
	HasMore bool
}

// Feeds returns the feeds of all services.
func Feeds(services Services) []Feed {
	return []Feed{
		feedOf(movefile.KindUser, services.Account.ListUserChanges, (*accountv1.ListUserChangesResponse).GetChanges, func(c *accountv1.UserChange) Change {
			return Change{happened: c, ID: c.GetUserId(), isMoved: c.GetUserId() < id.Lowest && !c.GetUser().GetIsSmall(), export: func(_ context.Context, e *personExport) { e.user(c.GetUser()) }}
		}),
		feedOf(movefile.KindAlbum, services.Album.ListAlbumChanges, (*albumv1.ListAlbumChangesResponse).GetChanges, func(c *albumv1.AlbumChange) Change {
			a := c.GetAlbum()
			return Change{c, c.GetAlbumId(), "", a.GetOldId(), a.GetEtag(), a.GetOwner().GetUserId(), a.GetIsAsMoved(), id.IsMoved(c.GetAlbumId()) && !a.GetIsSmall(),
				func(ctx context.Context, e *personExport) { e.album(ctx, a) }}
		}),
		feedOf(movefile.KindEntry, services.Blog.ListBlogChanges, (*blogv1.ListBlogChangesResponse).GetChanges, func(c *blogv1.BlogChange) Change {
			b := c.GetBlog()
			return Change{c, c.GetBlogId(), "", b.GetOldId(), b.GetEtag(), b.GetAuthor().GetUserId(), b.GetIsAsMoved(), id.IsMoved(c.GetBlogId()) && !b.GetIsSmall(),
				func(ctx context.Context, e *personExport) {
					e.entry(ctx, b)
					e.reward(b)
				}}
		}),
		feedOf(movefile.KindLandmark, services.Poi.ListPoiChanges, (*poiv1.ListPoiChangesResponse).GetChanges, func(c *poiv1.PoiChange) Change {
			p := c.GetPoi()
			return Change{c, c.GetPoiId(), "", p.GetOldId(), p.GetEtag(), p.GetOwner().GetUserId(), p.GetIsAsMoved(), id.IsMoved(c.GetPoiId()) && !p.GetIsSmall(),
				func(ctx context.Context, e *personExport) { e.landmark(ctx, p) }}
		}),
	}
}

// feedOf returns a feed. ask is a method of a client, whose request has a field such as include_album.
func feedOf[Request proto.Message, Reply interface {
	GetNextPageToken() string
	GetHasMore() bool
}, Shown any](
	kind movefile.Kind, ask func(context.Context, Request, ...grpc.CallOption) (Reply, error), changes func(Reply) []Shown, convert func(Shown) Change,
) Feed {
	return Feed{kind, func(ctx context.Context, token string, start *timestamppb.Timestamp) (page FeedPage, err error) {
		var request Request
		message := request.ProtoReflect().New()
		for i := range message.Descriptor().Fields().Len() {
			switch field := message.Descriptor().Fields().Get(i); {
			case field.Name() == "page_size":
				message.Set(field, protoreflect.ValueOfInt32(changesPage))
			case field.Name() == "page_token":
				message.Set(field, protoreflect.ValueOfString(token))
			case field.Name() == "start_time" && token == "" && start != nil:
				message.Set(field, protoreflect.ValueOfMessage(start.ProtoReflect()))
			case field.Kind() == protoreflect.BoolKind:
				message.Set(field, protoreflect.ValueOfBool(true))
			}
		}
		reply, err := ask(ctx, message.Interface().(Request))
		for _, each := range changes(reply) {
			change := convert(each)
			change.kind = kind
			page.Changes = append(page.Changes, change)
		}
		page.Next, page.HasMore = reply.GetNextPageToken(), reply.GetHasMore()
		return page, err
	}}
}

// readChanges takes everything that the services have, or what has changed since a time, unless that is zero, and
// what was deleted meanwhile. It takes and notes one after another.
func readChanges(ctx context.Context, services Services, since time.Time, note func(text string), take func(Change) error) error {
	var start *timestamppb.Timestamp
	if !since.IsZero() {
		start = timestamppb.New(since)
	}
	var mu sync.Mutex
	inTurn := func(c Change) error {
		mu.Lock()
		defer mu.Unlock()
		return take(c)
	}
	again := notingUnder(&mu, note)
	// Each feed waits some seconds at its end.
	feeds := Feeds(services)
	return workers.Each(ctx, len(feeds), feeds, func(ctx context.Context, feed Feed) error {
		for token, hasMore := "", true; hasMore; {
			var page FeedPage
			if _, err := retry.Do(ctx, again, func() (err error) {
				page, err = feed.Page(ctx, token, start)
				return err
			}); err != nil {
				return err
			}
			for _, each := range page.Changes {
				if err := inTurn(each); err != nil {
					return err
				}
			}
			token, hasMore = page.Next, page.HasMore
		}
		return nil
	})
}

// notingUnder repeats calls, and holds mu while it notes why.
func notingUnder(mu *sync.Mutex, note func(text string)) retry.Options {
	return retry.Options{Note: func(text string) {
		mu.Lock()
		defer mu.Unlock()
		note(text)
	}}
}
