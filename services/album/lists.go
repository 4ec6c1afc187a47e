package album

import (
	"context"

	"github.com/waybook/waybook/internal/content/nearby"
	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/platform/service"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// ListAlbums returns a page of albums.
func (s *server) ListAlbums(ctx context.Context,
	request *albumv1.ListAlbumsRequest) (*albumv1.ListAlbumsResponse, error) {
	if request.GetBox() != nil {
		return s.listInBox(ctx, request)
	}
	owner, token, hidden := request.GetOwnerId(), request.GetPageToken(), s.albums.HiddenIn(ctx, request)
	if err := hidden.Require(owner); err != nil {
		return nil, err
	}
	query := docstore.Query{
		Where: listed(request), Descending: request.GetOrder() == typev1.ListOrder_LIST_ORDER_NEWEST_FIRST,
		Token: token, Limit: service.PageSize(request.GetPageSize(), 100, service.MaxPage),
	}
	reply := &albumv1.ListAlbumsResponse{}
	if request.GetView() == typev1.View_VIEW_SUMMARY {
		var err error
		if reply.Summaries, reply.NextPageToken, err = s.summaries.Page(ctx, query,
			func(a *summary) bool { return !hidden[a.OwnerID] }); err != nil {
			return nil, err
		}
	} else {
		page, err := s.albums.Documents.Page(ctx, query)
		if err != nil {
			return nil, err
		}
		reply.Albums, reply.NextPageToken = s.showAll(ctx, s.albums.Without(hidden, page.Documents)), page.Next
	}
	if len(reply.GetSummaries())+len(reply.GetAlbums()) == 0 && owner != 0 && token == "" {
		if err := s.albums.RequireOwner(ctx, s.profiles, owner, byOwner().Is(owner)); err != nil {
			return nil, err
		}
	}
	return reply, nil
}

// listed selects the albums of a list.
func listed(request *albumv1.ListAlbumsRequest) docstore.Where {
	where := docstore.All(docstore.IDIndex).Everywhere()
	if owner := request.GetOwnerId(); owner != 0 {
		where = byOwner().Is(owner)
	} else if category := request.GetCategory(); category != albumv1.AlbumCategory_ALBUM_CATEGORY_UNSPECIFIED {
		where = byCategory().Is(int64(category)).Everywhere()
	}
	if after := request.GetAfterAlbumId(); after != 0 {
		where = where.FromID(after + 1)
	}
	return where
}

// summary is the part of an album that VIEW_SUMMARY reads.
type summary struct {
	ID      int64  `bson:"_id"`
	OwnerID int64  `bson:"owner_id"`
	Title   string `bson:"title"`
}

func showSummary(a *summary) (id int64, title string) { return a.ID, a.Title }

// SearchNearby returns a page of the albums in an area, nearest first.
func (s *server) SearchNearby(ctx context.Context,
	request *albumv1.SearchNearbyRequest) (*albumv1.SearchNearbyResponse, error) {
	page, err := s.nearby.Around(ctx, nearby.CircleOf(request.GetCircle()), nearby.Query{
		Filter: nearby.Filter{Category: int64(request.GetCategory())}, Hidden: s.albums.Hidden.Users(ctx),
		Size: service.PageSize(request.GetPageSize(), 100, service.MaxPage), Token: request.GetPageToken(),
	})
	if err != nil {
		return nil, err
	}
	albums := s.showAll(ctx, page.Documents())
	for i, f := range page.Found {
		albums[i].DistanceMeters = new(f.Distance)
	}
	return &albumv1.SearchNearbyResponse{Albums: albums, NextPageToken: page.Next, ReadCount: page.Read}, nil
}

// entry is an album as onMap shows it.
type entry struct {
	ID       int64 `bson:"_id"`
	Cell     int64 `bson:"cell"`
	Category int64 `bson:"category"`
}

func keyOf(e *entry) nearby.Key { return nearby.Key{Cell: e.Cell, Category: e.Category, ID: e.ID} }

func locationOf(a *album) nearby.Location {
	return nearby.Location{Key: nearby.Key{Cell: a.Cell, Category: int64(a.Category), ID: a.ID}, Lat: a.Lat,
		Lng: a.Lng, Owner: a.OwnerID}
}

// located is the part of an album that a map reads.
type located struct {
	ID       int64   `bson:"_id"`
	OwnerID  int64   `bson:"owner_id"`
	Title    string  `bson:"title"`
	Category int32   `bson:"category"`
	Lat      float64 `bson:"lat"`
	Lng      float64 `bson:"lng"`
	Cell     int64   `bson:"cell"`
}

func locationOfLocated(a *located) nearby.Location {
	return nearby.Location{Key: nearby.Key{Cell: a.Cell, Category: int64(a.Category), ID: a.ID}, Lat: a.Lat,
		Lng: a.Lng, Owner: a.OwnerID}
}

// listInBox returns a page of the albums in a box, in a stable order.
func (s *server) listInBox(ctx context.Context,
	request *albumv1.ListAlbumsRequest) (*albumv1.ListAlbumsResponse, error) {
	page, err := s.boxes.In(ctx, nearby.BoxOf(request.GetBox()), nearby.Query{
		Filter: nearby.Filter{Category: int64(request.GetCategory())}, Hidden: s.albums.Hidden.Users(ctx),
		Size: service.PageSize(request.GetPageSize(), 100, service.MaxPage), Token: request.GetPageToken(),
	})
	if err != nil {
		return nil, err
	}
	reply := &albumv1.ListAlbumsResponse{Summaries: make([]*typev1.Summary, len(page.Found)), NextPageToken: page.Next,
		ReadCount: page.Read}
	for i, a := range page.Documents() {
		reply.Summaries[i] = &typev1.Summary{
			Id: a.ID, Title: a.Title, Location: &typev1.Location{Lat: a.Lat, Lng: a.Lng}, Category: a.Category,
		}
	}
	return reply, nil
}
