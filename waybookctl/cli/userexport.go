package cli

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/waybook/waybook/internal/id"
	"github.com/waybook/waybook/moving/format"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	commentv1 "github.com/waybook/waybook/proto/gen/waybook/comment/v1"
	moveinv1 "github.com/waybook/waybook/proto/gen/waybook/movein/v1"
	photov1 "github.com/waybook/waybook/proto/gen/waybook/photo/v1"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
	recommendationv1 "github.com/waybook/waybook/proto/gen/waybook/recommendation/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
	"github.com/waybook/waybook/waybookctl/atomicfile"
	"github.com/waybook/waybook/waybookctl/output"
	"github.com/waybook/waybook/waybookctl/transfer"
)

type userExport struct {
	newFile `embed:""`
	User    int64  `arg:"" help:"The user's identifier."`
	File    string `arg:"" help:"File to write; - for standard output. It appears only when complete, and only you can read it."`
}

func (*userExport) Help() string {
	return `The file has the format that move import reads: an object in each line, with the user, rewards, and the user's albums,
entries and landmarks with their photos, comments, votes and recommendations.

It has no password, no session, and not what the user wrote in the content of others.`
}

func (c *userExport) Run(ctx context.Context, call *services, out *output.Printer) error {
	if err := c.check(c.File); err != nil {
		return err
	}
	e := personExport{services: call, counts: map[format.Kind]int64{}}
	err := atomicfile.WriteTo(out.Out, c.File, 0o600, func(file io.Writer) error {
		e.out = file
		return e.user(ctx, c.User)
	})
	return printExported(out, c.File, "%d records exported", e.count, err)
}

// personExport writes the data of a person, up to the first error.
type personExport struct {
	*services
	out    io.Writer
	counts map[format.Kind]int64
	count  int64
	err    error
}

// write writes a record, whose field is the name of its kind in moveinv1.Record. Its fields that
// have the name of a field of one of the sources are copied from there.
func (e *personExport) write(content proto.Message, sources ...proto.Message) {
	record := (&moveinv1.Record{}).ProtoReflect()
	fields := record.Descriptor().Fields()
	for i := range fields.Len() {
		if f := fields.Get(i); f.Message() == content.ProtoReflect().Descriptor() {
			record.Set(f, protoreflect.ValueOfMessage(content.ProtoReflect()))
			e.counts[format.Kind(f.Name())]++
			e.count++
		}
	}
	for _, source := range sources {
		transfer.CopyFields(content.ProtoReflect(), source.ProtoReflect())
	}
	if of, isRecord := record.Interface().(*moveinv1.Record); isRecord && e.err == nil {
		_, e.err = e.out.Write(format.Encode(nil, of))
	}
}

// each takes each item of a list, page by page, until the export has failed.
func each[Request proto.Message, Reply interface{ GetNextPageToken() string }, Item any](
	ctx context.Context, e *personExport, ask func(context.Context, Request, ...grpc.CallOption) (Reply, error),
	request Request,
	items func(Reply) []Item, take func(Item),
) {
	if e.err != nil {
		return
	}
	for item, err := range pages(ctx, limit{}, ask, request, items) {
		if e.err = err; err == nil {
			take(item)
		}
		if e.err != nil {
			return
		}
	}
}

// oldID returns the identifier of a record in a file: the old one of what was moved in, or else
// the present one, which an import keeps.
func oldID(old string, present int64) string {
	if old != "" {
		return old
	}
	if was, isMoved := id.Old(present); isMoved {
		present = was
	}
	return strconv.FormatInt(present, 10)
}

// user writes a user with all that belongs to the user. Errors: those of the services, such as
// NOT_FOUND.
func (e *personExport) user(ctx context.Context, userID int64) error {
	found, err := e.Account.GetUser(ctx, &accountv1.GetUserRequest{UserId: userID})
	if err != nil {
		return err
	}
	if found.GetUser().GetHidden() {
		return refusedError(fmt.Sprintf("user %d is hidden, so that the photos and comments can't be read; show "+
			"them with user disable %[1]d, and export 30 seconds later", userID))
	}
	e.write(&moveinv1.User{Id: userID}, found.GetUser())
	rewards := &accountv1.ListRewardsRequest{UserId: userID}
	each(ctx, e, e.Account.ListRewards, rewards, (*accountv1.ListRewardsResponse).GetRewards,
		func(r *accountv1.Reward) {
			e.write(&moveinv1.Reward{Id: strings.TrimPrefix(r.GetSource(), "old/"), UserId: userID}, r)
		})
	albums := &albumv1.ListAlbumsRequest{OwnerId: userID}
	each(ctx, e, e.Album.ListAlbums, albums, (*albumv1.ListAlbumsResponse).GetAlbums,
		func(a *albumv1.Album) { e.album(ctx, a) })
	entries := &blogv1.ListBlogsRequest{AuthorId: userID}
	each(ctx, e, e.Blog.ListBlogs, entries, (*blogv1.ListBlogsResponse).GetBlogs,
		func(b *blogv1.Blog) { e.entry(ctx, b) })
	landmarks := &poiv1.ListPoisRequest{OwnerId: userID}
	each(ctx, e, e.Poi.ListPois, landmarks, (*poiv1.ListPoisResponse).GetPois,
		func(l *poiv1.Poi) { e.landmark(ctx, l) })
	if e.err == nil {
		_, e.err = e.out.Write(format.EncodeEnd(nil, e.counts))
	}
	return e.err
}

func (e *personExport) album(ctx context.Context, a *albumv1.Album) {
	of := oldID(a.GetOldId(), a.GetAlbumId())
	e.write(&moveinv1.Album{Id: of, OwnerId: a.GetOwner().GetUserId()}, a, a.GetLocation())
	e.below(ctx, parent{albumKind, a.GetAlbumId(), of})
}

func (e *personExport) entry(ctx context.Context, b *blogv1.Blog) {
	of := oldID(b.GetOldId(), b.GetBlogId())
	entry := &moveinv1.Entry{Id: of, AuthorId: b.GetAuthor().GetUserId()}
	if b.GetReplyBlogId() != 0 {
		entry.QuotedId = oldID(b.GetReplyOldId(), b.GetReplyBlogId())
	}
	e.write(entry, b, b.GetLocation())
	if b.GetVote() != nil {
		ballots := &blogv1.ListBallotsRequest{BlogId: b.GetBlogId()}
		each(ctx, e, e.Blog.ListBallots, ballots, (*blogv1.ListBallotsResponse).GetBallots,
			func(ballot *blogv1.Ballot) {
				e.write(&moveinv1.Ballot{EntryId: of, UserId: ballot.GetVoter().GetUserId()}, ballot)
			})
	}
	e.below(ctx, parent{entryKind, b.GetBlogId(), of})
}

func (e *personExport) landmark(ctx context.Context, l *poiv1.Poi) {
	of := oldID(l.GetOldId(), l.GetPoiId())
	e.write(&moveinv1.Landmark{Id: of, OwnerId: l.GetOwner().GetUserId()}, l, l.GetLocation())
	e.below(ctx, parent{landmarkKind, l.GetPoiId(), of})
}

// below writes the photos, comments and recommendations of a parent. If it was deleted meanwhile,
// there are no more.
func (e *personExport) below(ctx context.Context, of parent) {
	if of.kind != entryKind {
		photos := asked(of, &photov1.ListPhotosRequest{})
		each(ctx, e, e.Photo.ListPhotos, photos, (*photov1.ListPhotosResponse).GetPhotos, func(p *photov1.Photo) {
			e.write(recorded(of, &moveinv1.Photo{Id: oldID(p.GetOldId(), p.GetPhotoId())}), p)
		})
	}
	comments := asked(of, &commentv1.ListCommentsRequest{})
	each(ctx, e, e.Comment.ListComments, comments, (*commentv1.ListCommentsResponse).GetComments,
		func(c *commentv1.Comment) {
			comment := &moveinv1.Comment{
				Id: oldID(c.GetOldId(), c.GetCommentId()), Reply: c.GetReply().GetText(),
				ReplyTime: c.GetReply().GetCreateTime(),
			}
			if author := c.GetAuthor(); author.GetUserId() != 0 {
				comment.AuthorId = author.GetUserId()
			} else {
				comment.AuthorName, comment.AuthorIconUrl = author.GetName(), author.GetIconUrl()
			}
			e.write(recorded(of, comment), c)
		})
	recommenders := asked(of, &recommendationv1.ListRecommendersRequest{})
	each(ctx, e, e.Recommendation.ListRecommenders, recommenders,
		(*recommendationv1.ListRecommendersResponse).GetRecommenders, func(user *typev1.Profile) {
			e.write(recorded(of, &moveinv1.Recommendation{UserId: user.GetUserId()}))
		})
	if status.Code(e.err) == codes.NotFound {
		e.err = nil
	}
}
