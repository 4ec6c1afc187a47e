package send

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strconv"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
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
	"github.com/waybook/waybook/waybookctl/progress"
)

// personPage is how many records are asked for at a time.
const personPage = 100

// personExport writes the data of one person, or of several, up to the first error.
type personExport struct {
	Services
	out *movefile.Writer
	// zone, unless nil, is that of local times.
	zone *time.Location
	// count is the number of records that are written.
	count int64
	err   error
}

// list reads a list page by page, and takes each item. ask is a method of a client whose request has
// a page_token.
func list[Request proto.Message, Reply interface{ GetNextPageToken() string }, Item any](
	ctx context.Context, e *personExport, ask func(context.Context, Request, ...grpc.CallOption) (Reply, error), request Request,
	items func(Reply) []Item, take func(context.Context, Item),
) {
	message := request.ProtoReflect()
	field := message.Descriptor().Fields().ByName("page_token")
	for token := ""; e.err == nil; {
		message.Set(field, protoreflect.ValueOfString(token))
		reply, err := ask(ctx, request)
		if e.err = err; err != nil {
			return
		}
		for _, item := range items(reply) {
			take(ctx, item)
		}
		if token = reply.GetNextPageToken(); token == "" {
			return
		}
	}
}

// children is a list whose items are below a thing that may have been deleted meanwhile: it has none
// then. record returns what is written for an item.
func children[Request proto.Message, Reply interface{ GetNextPageToken() string }, Item any](
	ctx context.Context, e *personExport, ask func(context.Context, Request, ...grpc.CallOption) (Reply, error), request Request,
	items func(Reply) []Item, record func(Item) movefile.Record,
) {
	if e.err == nil {
		list(ctx, e, ask, request, items, func(_ context.Context, item Item) { e.write(record(item)) })
		e.err = gone(e.err)
	}
}

// gone takes NOT_FOUND away.
func gone(err error) error {
	if status.Code(err) == codes.NotFound {
		return nil
	}
	return err
}

// write writes a record, unless something has failed.
func (e *personExport) write(record movefile.Record) {
	if e.err == nil {
		e.count++
		e.err = e.out.Write(record)
	}
}

// oldID returns the identifier of a record in a file: the old one of what was moved in, or else the
// present one, which an import keeps.
func oldID(old string, present int64) movefile.ID {
	if old != "" {
		return movefile.ID(old)
	}
	if was, isMoved := id.Old(present); isMoved {
		present = was
	}
	return numberID(present)
}

func numberID(number int64) movefile.ID { return movefile.ID(strconv.FormatInt(number, 10)) }

func (e *personExport) moment(t *timestamppb.Timestamp) movefile.Moment {
	switch {
	case t == nil:
		return movefile.Moment{}
	case e.zone == nil:
		return movefile.Moment{Time: t.AsTime()}
	}
	return movefile.Moment{Time: t.AsTime().In(e.zone), IsLocal: true}
}

func (e *personExport) user(u *accountv1.User) {
	e.write(&movefile.User{
		ID: numberID(u.GetUserId()), Name: u.GetName(), IconURL: u.GetIconUrl(), Email: u.GetEmail(), CreateTime: e.moment(u.GetCreateTime()),
	})
}

// commentRecord returns what converts comments on a parent, which of names.
func (e *personExport) commentRecord(of movefile.Comment) func(*typev1.Comment) movefile.Record {
	return func(c *typev1.Comment) movefile.Record {
		record := of
		record.ID, record.Text, record.CreateTime = oldID(c.GetOldId(), c.GetCommentId()), c.GetText(), e.moment(c.GetCreateTime())
		if author := c.GetAuthor(); author.GetUserId() != 0 {
			record.AuthorID = numberID(author.GetUserId())
		} else {
			record.AuthorName, record.AuthorIconURL = author.GetName(), author.GetIconUrl()
		}
		if c.GetReply() != nil {
			record.Reply, record.ReplyTime = c.GetReply().GetText(), e.moment(c.GetReply().GetCreateTime())
		}
		return &record
	}
}

// recommendationRecord returns what converts the recommenders of a parent, which of names.
func recommendationRecord(of movefile.Recommendation) func(*typev1.Profile) movefile.Record {
	return func(user *typev1.Profile) movefile.Record {
		record := of
		record.UserID = numberID(user.GetUserId())
		return &record
	}
}

func (e *personExport) album(ctx context.Context, a *albumv1.Album) {
	record := &movefile.Album{
		ID: oldID(a.GetOldId(), a.GetAlbumId()), OwnerID: numberID(a.GetOwner().GetUserId()), Title: a.GetTitle(), Category: int64(a.GetCategory()),
		Lat: a.GetLocation().GetLat(), Lng: a.GetLocation().GetLng(), Score: a.GetScore(),
		CreateTime: e.moment(a.GetCreateTime()), UpdateTime: e.moment(a.GetUpdateTime()),
	}
	e.write(record)
	photo := func(p *albumv1.Photo) movefile.Record {
		return &movefile.Photo{ID: oldID(p.GetOldId(), p.GetPhotoId()), AlbumID: record.ID, URL: p.GetThumbnailUrl(), Description: p.GetDescription()}
	}
	photos := &albumv1.ListPhotosRequest{AlbumId: a.GetAlbumId(), PageSize: personPage}
	children(ctx, e, e.Album.ListPhotos, photos, (*albumv1.ListPhotosResponse).GetPhotos, photo)
	comments := &albumv1.ListCommentsRequest{AlbumId: a.GetAlbumId(), PageSize: personPage}
	children(ctx, e, e.Album.ListComments, comments, (*albumv1.ListCommentsResponse).GetComments, e.commentRecord(movefile.Comment{AlbumID: record.ID}))
	recommenders := &albumv1.ListRecommendersRequest{AlbumId: a.GetAlbumId()}
	children(ctx, e, e.Album.ListRecommenders, recommenders, (*albumv1.ListRecommendersResponse).GetRecommenders,
		recommendationRecord(movefile.Recommendation{AlbumID: record.ID}))
}

func (e *personExport) entry(ctx context.Context, b *blogv1.Blog) {
	record, err := e.entryRecord(b)
	if err != nil {
		e.err = cmp.Or(e.err, err)
		return
	}
	e.write(record)
	if record.Vote != nil {
		ballot := func(b *blogv1.Ballot) movefile.Record {
			return &movefile.Ballot{EntryID: record.ID, UserID: numberID(b.GetVoter().GetUserId()), Choice: int64(b.GetChoice())}
		}
		children(ctx, e, e.Blog.ListBallots, &blogv1.ListBallotsRequest{BlogId: b.GetBlogId()}, (*blogv1.ListBallotsResponse).GetBallots, ballot)
	}
	comments := &blogv1.ListCommentsRequest{BlogId: b.GetBlogId(), PageSize: personPage}
	children(ctx, e, e.Blog.ListComments, comments, (*blogv1.ListCommentsResponse).GetComments, e.commentRecord(movefile.Comment{EntryID: record.ID}))
	recommenders := &blogv1.ListRecommendersRequest{BlogId: b.GetBlogId()}
	children(ctx, e, e.Blog.ListRecommenders, recommenders, (*blogv1.ListRecommendersResponse).GetRecommenders,
		recommendationRecord(movefile.Recommendation{EntryID: record.ID}))
}

// entryRecord converts an entry. It fails for a type or weather of a newer contract.
func (e *personExport) entryRecord(b *blogv1.Blog) (*movefile.Entry, error) {
	kind, weather := int(b.GetType())-1, int(b.GetWeather())-1
	if kind < 0 || kind >= len(movefile.EntryTypes()) || weather < 0 || weather >= len(movefile.Weathers()) {
		return nil, fmt.Errorf("entry %d has the type %v and the weather %v, which this version does not know", b.GetBlogId(), b.GetType(), b.GetWeather())
	}
	day, zoom := b.GetPostDate(), int64(b.GetZoomLevel())
	record := &movefile.Entry{
		ID: oldID(b.GetOldId(), b.GetBlogId()), AuthorID: numberID(b.GetAuthor().GetUserId()), Type: movefile.EntryTypes()[kind],
		Lat: b.GetLocation().GetLat(), Lng: b.GetLocation().GetLng(), Title: b.GetTitle(), Content: b.GetContent(),
		PostDate: fmt.Sprintf("%04d-%02d-%02d", day.GetYear(), day.GetMonth(), day.GetDay()), Weather: movefile.Weathers()[weather],
		ZoomLevel: &zoom, MapType: int64(b.GetMapType()), Score: b.GetScore(), Reward: b.GetReward(),
		CreateTime: e.moment(b.GetCreateTime()), UpdateTime: e.moment(b.GetUpdateTime()),
	}
	if b.GetReplyBlogId() != 0 {
		record.QuotedID = oldID(b.GetReplyOldId(), b.GetReplyBlogId())
	}
	if b.GetVote() != nil {
		record.Vote = &movefile.Vote{Description: b.GetVote().GetDescription()}
		for _, each := range b.GetVote().GetChoices() {
			record.Vote.Choices = append(record.Vote.Choices, movefile.Choice{Description: each.GetDescription(), Votes: each.GetVotes()})
		}
	}
	return record, nil
}

func (e *personExport) landmark(ctx context.Context, p *poiv1.Poi) {
	poiID := p.GetPoiId()
	record := &movefile.Landmark{
		ID: oldID(p.GetOldId(), p.GetPoiId()), OwnerID: numberID(p.GetOwner().GetUserId()), Name: p.GetName(), Category: int64(p.GetCategory()),
		Lat: p.GetLocation().GetLat(), Lng: p.GetLocation().GetLng(), Score: p.GetScore(),
		CreateTime: e.moment(p.GetCreateTime()), UpdateTime: e.moment(p.GetUpdateTime()),
	}
	e.write(record)
	photo := func(p *poiv1.Photo) movefile.Record {
		return &movefile.Photo{ID: oldID(p.GetOldId(), p.GetPhotoId()), LandmarkID: record.ID, URL: p.GetPhotoUrl(), Description: p.GetDescription()}
	}
	photos := &poiv1.ListPhotosRequest{PoiId: poiID, PageSize: personPage}
	children(ctx, e, e.Poi.ListPhotos, photos, (*poiv1.ListPhotosResponse).GetPhotos, photo)
	comments := &poiv1.ListCommentsRequest{PoiId: poiID, PageSize: personPage}
	children(ctx, e, e.Poi.ListComments, comments, (*poiv1.ListCommentsResponse).GetComments, e.commentRecord(movefile.Comment{LandmarkID: record.ID}))
	children(ctx, e, e.Poi.ListRecommenders, &poiv1.ListRecommendersRequest{PoiId: poiID}, (*poiv1.ListRecommendersResponse).GetRecommenders,
		recommendationRecord(movefile.Recommendation{LandmarkID: record.ID}))
}

// clocks is how far the clock of the store may be from that of the caller.
const clocks = time.Minute

// ExportSince writes the users and the content that were made or changed in Waybook since a time, or all if it is
// zero, each whole. Times are written in zone, without it. What changes meanwhile may be missing. It returns the
// number of records.
func ExportSince(
	ctx context.Context, services Services, since time.Time, zone *time.Location, out io.Writer, report progress.Reporter,
) (count int64, err error) {
	e := &personExport{Services: services, out: movefile.NewWriter(out), zone: zone}
	written := map[movefile.Root]bool{}
	report.Start("exporting", progress.Records, 0)
	defer report.Finish()
	if !since.IsZero() {
		since = since.Add(-clocks)
	}
	err = readChanges(ctx, services, since, report.Note, func(c Change) error {
		root := movefile.Root{Kind: c.kind, ID: numberID(c.ID)}
		if !c.IsDeleted() && !written[root] {
			written[root] = true
			c.export(ctx, e)
			report.Reach(e.count)
		}
		return e.err
	})
	if err == nil {
		err = e.out.End()
	}
	return e.count, err
}

// reward writes what the author got for an entry that was made in Waybook, under the identifier of the entry: a
// user's rewards are not in the feeds.
func (e *personExport) reward(b *blogv1.Blog) {
	if b.GetReward() != 0 && (b.GetIsSmall() || !id.IsMoved(b.GetBlogId())) {
		e.write(&movefile.Reward{ID: numberID(b.GetBlogId()), UserID: numberID(b.GetAuthor().GetUserId()), Amount: b.GetReward()})
	}
}
