package send

import (
	"context"
	"errors"
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
)

// change is what a feed says of a user, an album, an entry or a landmark, as it is now or deleted.
type change struct {
	happened
	kind movefile.Kind
	id   int64
	// old is the old identifier that id does not tell. What follows is empty for users.
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

func (c change) isDeleted() bool { return c.GetKind() == typev1.ChangeKind_CHANGE_KIND_DELETED }

// changesPage is how many changes a page has.
const changesPage = 1000

// readChanges takes everything that the services have, or what has changed since a time, unless that is zero, and
// what was deleted meanwhile, one after another.
func readChanges(ctx context.Context, services Services, since time.Time, again retry.Options, take func(change) error) error {
	var start *timestamppb.Timestamp
	if !since.IsZero() {
		start = timestamppb.New(since)
	}
	var mu sync.Mutex
	inTurn := func(c change) error {
		mu.Lock()
		defer mu.Unlock()
		return take(c)
	}
	feeds := []func() error{
		func() error {
			return readFeed(ctx, again, services.Account.ListUserChanges, &accountv1.ListUserChangesRequest{PageSize: changesPage, IncludeUser: true, StartTime: start},
				(*accountv1.ListUserChangesResponse).GetChanges, func(c *accountv1.UserChange) change {
					return change{happened: c, kind: movefile.KindUser, id: c.GetUserId(), isMoved: c.GetUserId() < id.Lowest && !c.GetUser().GetIsSmall(), export: func(_ context.Context, e *personExport) { e.user(c.GetUser()) }}
				}, inTurn)
		},
		func() error {
			return readFeed(ctx, again, services.Album.ListAlbumChanges, &albumv1.ListAlbumChangesRequest{PageSize: changesPage, IncludeAlbum: true, StartTime: start},
				(*albumv1.ListAlbumChangesResponse).GetChanges, func(c *albumv1.AlbumChange) change {
					a := c.GetAlbum()
					return change{c, movefile.KindAlbum, c.GetAlbumId(), a.GetOldId(), a.GetEtag(), a.GetOwner().GetUserId(), a.GetIsAsMoved(), id.IsMoved(c.GetAlbumId()) && !a.GetIsSmall(),
						func(ctx context.Context, e *personExport) { e.album(ctx, a) }}
				}, inTurn)
		},
		func() error {
			return readFeed(ctx, again, services.Blog.ListBlogChanges, &blogv1.ListBlogChangesRequest{PageSize: changesPage, IncludeBlog: true, StartTime: start},
				(*blogv1.ListBlogChangesResponse).GetChanges, func(c *blogv1.BlogChange) change {
					b := c.GetBlog()
					return change{c, movefile.KindEntry, c.GetBlogId(), b.GetOldId(), b.GetEtag(), b.GetAuthor().GetUserId(), b.GetIsAsMoved(), id.IsMoved(c.GetBlogId()) && !b.GetIsSmall(),
						func(ctx context.Context, e *personExport) {
							e.entry(ctx, b)
							e.reward(b)
						}}
				}, inTurn)
		},
		func() error {
			return readFeed(ctx, again, services.Poi.ListPoiChanges, &poiv1.ListPoiChangesRequest{PageSize: changesPage, IncludePoi: true, StartTime: start},
				(*poiv1.ListPoiChangesResponse).GetChanges, func(c *poiv1.PoiChange) change {
					p := c.GetPoi()
					return change{c, movefile.KindLandmark, c.GetPoiId(), p.GetOldId(), p.GetEtag(), p.GetOwner().GetUserId(), p.GetIsAsMoved(), id.IsMoved(c.GetPoiId()) && !p.GetIsSmall(),
						func(ctx context.Context, e *personExport) { e.landmark(ctx, p) }}
				}, inTurn)
		},
	}
	// Each feed waits some seconds at its end.
	var group sync.WaitGroup
	errs := make([]error, len(feeds))
	for n, read := range feeds {
		group.Go(func() { errs[n] = read() })
	}
	group.Wait()
	return errors.Join(errs...)
}

// readFeed reads the pages of a feed. ask is a method of a client whose request has a page_token.
func readFeed[Request proto.Message, Reply interface {
	GetNextPageToken() string
	GetHasMore() bool
}, Change any](
	ctx context.Context, again retry.Options, ask func(context.Context, Request, ...grpc.CallOption) (Reply, error), request Request,
	changes func(Reply) []Change, convert func(Change) change, take func(change) error,
) error {
	message := request.ProtoReflect()
	token, start := message.Descriptor().Fields().ByName("page_token"), message.Descriptor().Fields().ByName("start_time")
	for hasMore := true; hasMore; {
		var reply Reply
		if _, err := retry.Do(ctx, again, func() (err error) {
			reply, err = ask(ctx, request)
			return err
		}); err != nil {
			return err
		}
		for _, each := range changes(reply) {
			if err := take(convert(each)); err != nil {
				return err
			}
		}
		hasMore = reply.GetHasMore()
		message.Set(token, protoreflect.ValueOfString(reply.GetNextPageToken()))
		message.Clear(start)
	}
	return nil
}
