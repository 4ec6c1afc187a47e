package move

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/waybook/waybook/internal/id"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
	"github.com/waybook/waybook/waybookctl/listing"
	"github.com/waybook/waybook/waybookctl/movefile"
)

// personPage is how many records are asked for at a time.
const personPage = 100

// personExport writes the data of one person.
type personExport struct {
	Services
	userID int64
	out    *movefile.Writer
	// count is the number of records that are written.
	count int64
}

// ExportPerson writes what Waybook holds of a user: the user without the password, rewards, and the
// albums, entries and landmarks with their photos, comments, ballots and recommendations. It returns
// the number of records. Errors: those of the services, such as NOT_FOUND for a user who does not
// exist.
func ExportPerson(ctx context.Context, services Services, userID int64, out io.Writer) (count int64, err error) {
	e := &personExport{Services: services, userID: userID, out: movefile.NewWriter(out)}
	return e.parts(ctx, e.user, e.rewards, e.albums, e.entries, e.landmarks)
}

// ExportAlbums writes the albums of a user with their photos and comments, as ExportPerson does.
func ExportAlbums(ctx context.Context, services Services, userID int64, out io.Writer) (count int64, err error) {
	e := &personExport{Services: services, userID: userID, out: movefile.NewWriter(out)}
	return e.parts(ctx, e.albums)
}

// ExportEntries writes the entries of a user with their votes and comments, as ExportPerson does.
func ExportEntries(ctx context.Context, services Services, userID int64, out io.Writer) (count int64, err error) {
	e := &personExport{Services: services, userID: userID, out: movefile.NewWriter(out)}
	return e.parts(ctx, e.entries)
}

func (e *personExport) parts(ctx context.Context, parts ...func(context.Context) error) (count int64, err error) {
	for _, part := range parts {
		if err := part(ctx); err != nil {
			return e.count, err
		}
	}
	return e.count, nil
}

func (e *personExport) write(record movefile.Record) error {
	e.count++
	return e.out.Write(record)
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

func momentOf(t *timestamppb.Timestamp) movefile.Moment {
	if t == nil {
		return movefile.Moment{}
	}
	return movefile.Moment{Time: t.AsTime()}
}

func (e *personExport) user(ctx context.Context) error {
	found, err := e.Account.GetUser(ctx, &accountv1.GetUserRequest{UserId: e.userID})
	if err != nil {
		return err
	}
	u := found.GetUser()
	return e.write(&movefile.User{
		ID: numberID(u.GetUserId()), Name: u.GetName(), IconURL: u.GetIconUrl(), Email: u.GetEmail(), CreateTime: momentOf(u.GetCreateTime()),
	})
}

func (e *personExport) rewards(ctx context.Context) error {
	for each, err := range listing.Pages(func(token string) ([]*accountv1.Reward, string, error) {
		page, err := e.Account.ListRewards(ctx, &accountv1.ListRewardsRequest{UserId: e.userID, PageSize: personPage, PageToken: token})
		return page.GetRewards(), page.GetNextPageToken(), err
	}) {
		if err != nil {
			return err
		}
		source := strings.TrimPrefix(each.GetSource(), "old/")
		if err := e.write(&movefile.Reward{ID: movefile.ID(source), UserID: numberID(e.userID), Amount: each.GetAmount()}); err != nil {
			return err
		}
	}
	return nil
}

func (e *personExport) albums(ctx context.Context) error {
	for a, err := range listing.Pages(func(token string) ([]*albumv1.Album, string, error) {
		page, err := e.Album.ListAlbums(ctx, &albumv1.ListAlbumsRequest{OwnerId: e.userID, PageSize: personPage, PageToken: token})
		return page.GetAlbums(), page.GetNextPageToken(), err
	}) {
		if err != nil {
			return err
		}
		record := &movefile.Album{
			ID: oldID(a.GetOldId(), a.GetAlbumId()), OwnerID: numberID(e.userID), Title: a.GetTitle(), Category: int64(a.GetCategory()),
			Lat: a.GetLocation().GetLat(), Lng: a.GetLocation().GetLng(), Score: a.GetScore(),
			CreateTime: momentOf(a.GetCreateTime()), UpdateTime: momentOf(a.GetUpdateTime()),
		}
		if err := e.write(record); err != nil {
			return err
		}
		for p, err := range listing.Pages(func(token string) ([]*albumv1.Photo, string, error) {
			page, err := e.Album.ListPhotos(ctx, &albumv1.ListPhotosRequest{AlbumId: a.GetAlbumId(), PageSize: personPage, PageToken: token})
			return page.GetPhotos(), page.GetNextPageToken(), gone(err)
		}) {
			if err != nil {
				return err
			}
			photo := &movefile.Photo{ID: oldID(p.GetOldId(), p.GetPhotoId()), AlbumID: record.ID, URL: p.GetThumbnailUrl(), Description: p.GetDescription()}
			if err := e.write(photo); err != nil {
				return err
			}
		}
		err = e.comments(movefile.Comment{AlbumID: record.ID}, func(token string) ([]*typev1.Comment, string, error) {
			page, err := e.Album.ListComments(ctx, &albumv1.ListCommentsRequest{AlbumId: a.GetAlbumId(), PageSize: personPage, PageToken: token})
			return page.GetComments(), page.GetNextPageToken(), gone(err)
		})
		if err != nil {
			return err
		}
		err = e.recommendations(movefile.Recommendation{AlbumID: record.ID}, func(token string) ([]*typev1.Profile, string, error) {
			page, err := e.Album.ListRecommenders(ctx, &albumv1.ListRecommendersRequest{AlbumId: a.GetAlbumId(), PageToken: token})
			return page.GetRecommenders(), page.GetNextPageToken(), gone(err)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// gone takes NOT_FOUND away: what was deleted meanwhile has no photos and comments.
func gone(err error) error {
	if status.Code(err) == codes.NotFound {
		return nil
	}
	return err
}

// comments writes the comments of a parent, which of names.
func (e *personExport) comments(of movefile.Comment, fetch func(token string) ([]*typev1.Comment, string, error)) error {
	for c, err := range listing.Pages(fetch) {
		if err != nil {
			return err
		}
		record := of
		record.ID, record.Text, record.CreateTime = oldID(c.GetOldId(), c.GetCommentId()), c.GetText(), momentOf(c.GetCreateTime())
		if author := c.GetAuthor(); author.GetUserId() != 0 {
			record.AuthorID = numberID(author.GetUserId())
		} else {
			record.AuthorName, record.AuthorIconURL = author.GetName(), author.GetIconUrl()
		}
		if c.GetReply() != nil {
			record.Reply, record.ReplyTime = c.GetReply().GetText(), momentOf(c.GetReply().GetCreateTime())
		}
		if err := e.write(&record); err != nil {
			return err
		}
	}
	return nil
}

// recommendations writes the recommendations of a parent, which of names.
func (e *personExport) recommendations(of movefile.Recommendation, fetch func(token string) ([]*typev1.Profile, string, error)) error {
	for user, err := range listing.Pages(fetch) {
		if err != nil {
			return err
		}
		record := of
		record.UserID = numberID(user.GetUserId())
		if err := e.write(&record); err != nil {
			return err
		}
	}
	return nil
}

func (e *personExport) entries(ctx context.Context) error {
	for b, err := range listing.Pages(func(token string) ([]*blogv1.Blog, string, error) {
		page, err := e.Blog.ListBlogs(ctx, &blogv1.ListBlogsRequest{AuthorId: e.userID, PageToken: token})
		return page.GetBlogs(), page.GetNextPageToken(), err
	}) {
		if err != nil {
			return err
		}
		record, err := entryRecord(e.userID, b)
		if err != nil {
			return err
		}
		if err := e.write(record); err != nil {
			return err
		}
		if record.Vote != nil {
			if err := e.ballots(ctx, b.GetBlogId(), record.ID); err != nil {
				return err
			}
		}
		err = e.comments(movefile.Comment{EntryID: record.ID}, func(token string) ([]*typev1.Comment, string, error) {
			page, err := e.Blog.ListComments(ctx, &blogv1.ListCommentsRequest{BlogId: b.GetBlogId(), PageSize: personPage, PageToken: token})
			return page.GetComments(), page.GetNextPageToken(), gone(err)
		})
		if err != nil {
			return err
		}
		err = e.recommendations(movefile.Recommendation{EntryID: record.ID}, func(token string) ([]*typev1.Profile, string, error) {
			page, err := e.Blog.ListRecommenders(ctx, &blogv1.ListRecommendersRequest{BlogId: b.GetBlogId(), PageToken: token})
			return page.GetRecommenders(), page.GetNextPageToken(), gone(err)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// ballots writes the ballots in the vote of an entry.
func (e *personExport) ballots(ctx context.Context, blogID int64, entryID movefile.ID) error {
	for ballot, err := range listing.Pages(func(token string) ([]*blogv1.Ballot, string, error) {
		page, err := e.Blog.ListBallots(ctx, &blogv1.ListBallotsRequest{BlogId: blogID, PageToken: token})
		return page.GetBallots(), page.GetNextPageToken(), gone(err)
	}) {
		if err != nil {
			return err
		}
		record := &movefile.Ballot{EntryID: entryID, UserID: numberID(ballot.GetVoter().GetUserId()), Choice: int64(ballot.GetChoice())}
		if err := e.write(record); err != nil {
			return err
		}
	}
	return nil
}

// entryRecord converts an entry. It fails for a type or weather of a newer contract.
func entryRecord(author int64, b *blogv1.Blog) (*movefile.Entry, error) {
	kind, weather := int(b.GetType())-1, int(b.GetWeather())-1
	if kind < 0 || kind >= len(movefile.EntryTypes()) || weather < 0 || weather >= len(movefile.Weathers()) {
		return nil, fmt.Errorf("entry %d has the type %v and the weather %v, which this version does not know", b.GetBlogId(), b.GetType(), b.GetWeather())
	}
	day, zoom := b.GetPostDate(), int64(b.GetZoomLevel())
	record := &movefile.Entry{
		ID: oldID(b.GetOldId(), b.GetBlogId()), AuthorID: numberID(author), Type: movefile.EntryTypes()[kind],
		Lat: b.GetLocation().GetLat(), Lng: b.GetLocation().GetLng(), Title: b.GetTitle(), Content: b.GetContent(),
		PostDate: fmt.Sprintf("%04d-%02d-%02d", day.GetYear(), day.GetMonth(), day.GetDay()), Weather: movefile.Weathers()[weather],
		ZoomLevel: &zoom, MapType: int64(b.GetMapType()), Score: b.GetScore(), Reward: b.GetReward(),
		CreateTime: momentOf(b.GetCreateTime()), UpdateTime: momentOf(b.GetUpdateTime()),
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

func (e *personExport) landmarks(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // ends the stream on an error
	stream, err := e.Poi.ExportPois(ctx, &poiv1.ExportPoisRequest{OwnerId: e.userID, WithIds: true})
	if err != nil {
		return err
	}
	for {
		batch, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		for _, each := range batch.GetPois() {
			if err := e.landmark(ctx, each.GetPoiId()); err != nil {
				return err
			}
		}
	}
}

func (e *personExport) landmark(ctx context.Context, poiID int64) error {
	found, err := e.Poi.GetPoi(ctx, &poiv1.GetPoiRequest{PoiId: poiID})
	if err != nil {
		return gone(err)
	}
	p := found.GetPoi()
	record := &movefile.Landmark{
		ID: oldID(p.GetOldId(), p.GetPoiId()), OwnerID: numberID(e.userID), Name: p.GetName(), Category: int64(p.GetCategory()),
		Lat: p.GetLocation().GetLat(), Lng: p.GetLocation().GetLng(), Score: p.GetScore(),
		CreateTime: momentOf(p.GetCreateTime()), UpdateTime: momentOf(p.GetUpdateTime()),
	}
	if err := e.write(record); err != nil {
		return err
	}
	for p, err := range listing.Pages(func(token string) ([]*poiv1.Photo, string, error) {
		page, err := e.Poi.ListPhotos(ctx, &poiv1.ListPhotosRequest{PoiId: poiID, PageSize: personPage, PageToken: token})
		return page.GetPhotos(), page.GetNextPageToken(), gone(err)
	}) {
		if err != nil {
			return err
		}
		photo := &movefile.Photo{ID: oldID(p.GetOldId(), p.GetPhotoId()), LandmarkID: record.ID, URL: p.GetPhotoUrl(), Description: p.GetDescription()}
		if err := e.write(photo); err != nil {
			return err
		}
	}
	err = e.comments(movefile.Comment{LandmarkID: record.ID}, func(token string) ([]*typev1.Comment, string, error) {
		page, err := e.Poi.ListComments(ctx, &poiv1.ListCommentsRequest{PoiId: poiID, PageSize: personPage, PageToken: token})
		return page.GetComments(), page.GetNextPageToken(), gone(err)
	})
	if err != nil {
		return err
	}
	return e.recommendations(movefile.Recommendation{LandmarkID: record.ID}, func(token string) ([]*typev1.Profile, string, error) {
		page, err := e.Poi.ListRecommenders(ctx, &poiv1.ListRecommendersRequest{PoiId: poiID, PageToken: token})
		return page.GetRecommenders(), page.GetNextPageToken(), gone(err)
	})
}
