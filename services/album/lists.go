package album

import (
	"context"

	"google.golang.org/grpc"

	"github.com/waybook/waybook/internal/content/nearby"
	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/platform/service"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// ListAlbums returns a page of a user's albums.
func (s *server) ListAlbums(ctx context.Context, request *albumv1.ListAlbumsRequest) (*albumv1.ListAlbumsResponse, error) {
	page, err := s.albums.Documents.Page(ctx, docstore.Query{
		Where: byOwner().Is(request.GetOwnerId()),
		Token: request.GetPageToken(), Limit: service.PageSize(request.GetPageSize(), 100, service.MaxPage),
	})
	if err != nil {
		return nil, err
	}
	if len(page.Documents) == 0 {
		if err := s.albums.RequireOwner(ctx, s.profiles, request.GetOwnerId(), byOwner().Is(request.GetOwnerId())); err != nil {
			return nil, err
		}
	}
	owner := s.profiles.Show(ctx, request.GetOwnerId()).Of(request.GetOwnerId())
	reply := &albumv1.ListAlbumsResponse{Albums: make([]*albumv1.Album, len(page.Documents)), NextPageToken: page.Next}
	for i, a := range page.Documents {
		reply.Albums[i] = albumProto(a, owner)
	}
	return reply, nil
}

// ListRecentAlbums returns a page of all users' albums, newest first.
func (s *server) ListRecentAlbums(ctx context.Context, request *albumv1.ListRecentAlbumsRequest) (*albumv1.ListRecentAlbumsResponse, error) {
	where := docstore.All(docstore.IDIndex)
	if category := request.GetCategory(); category != albumv1.AlbumCategory_ALBUM_CATEGORY_UNSPECIFIED {
		where = byCategory().Is(int64(category))
	}
	page, err := s.albums.Documents.Page(ctx, docstore.Query{
		Where: where.Everywhere(), Descending: true,
		Token: request.GetPageToken(), Limit: service.PageSize(request.GetPageSize(), 100, service.MaxPage),
	})
	return &albumv1.ListRecentAlbumsResponse{Albums: s.showAll(ctx, page.Documents), NextPageToken: page.Next}, err
}

// summary is the part of an album that a list shows.
type summary struct {
	ID    int64  `bson:"_id"`
	Title string `bson:"title"`
}

func showSummary(message *albumv1.AlbumSummary, a *summary) {
	message.AlbumId, message.Title = a.ID, a.Title
}

func idOfSummary(a *summary) int64 { return a.ID }

func tellOldID(message *albumv1.AlbumSummary, oldID string) { message.OldId = oldID }

// StreamAlbums sends the albums of a user.
func (s *server) StreamAlbums(request *albumv1.StreamAlbumsRequest, stream grpc.ServerStreamingServer[albumv1.StreamAlbumsResponse]) error {
	query := docstore.Query{
		Where: byOwner().Is(request.GetOwnerId()).FromID(request.GetAfterAlbumId() + 1),
		Limit: service.StreamBatch,
	}
	found, err := s.summaries.Send(stream.Context(), query, request.GetLimit(), nil, func(batch []*albumv1.AlbumSummary) error {
		return stream.Send(&albumv1.StreamAlbumsResponse{Albums: batch})
	})
	if err == nil && !found {
		err = s.albums.RequireOwner(stream.Context(), s.profiles, request.GetOwnerId(), byOwner().Is(request.GetOwnerId()))
	}
	return err
}

// SearchNearby returns a page of the albums in an area, nearest first.
func (s *server) SearchNearby(ctx context.Context, request *albumv1.SearchNearbyRequest) (*albumv1.SearchNearbyResponse, error) {
	found, next, err := s.nearby.Search(ctx, nearby.Query[album]{
		Area: nearby.AreaOf(request), Category: int64(request.GetCategory()),
		Size: service.PageSize(request.GetPageSize(), 100, service.MaxPage), Token: request.GetPageToken(),
	})
	if err != nil {
		return nil, err
	}
	albums := s.showAll(ctx, nearby.DocumentsOf(found))
	reply := &albumv1.SearchNearbyResponse{Albums: make([]*albumv1.FoundAlbum, len(found)), NextPageToken: next}
	for i, f := range found {
		reply.Albums[i] = &albumv1.FoundAlbum{Album: albums[i], DistanceMeters: f.Distance}
	}
	return reply, nil
}

func locationOf(a *album) nearby.Location {
	return nearby.Location{ID: a.ID, Category: int64(a.Category), Lat: a.Lat, Lng: a.Lng}
}

// located is the part of an album that a map shows.
type located struct {
	ID       int64   `bson:"_id"`
	Title    string  `bson:"title"`
	Category int32   `bson:"category"`
	Lat      float64 `bson:"lat"`
	Lng      float64 `bson:"lng"`
	Cell     int64   `bson:"cell"`
}

func locationOfLocated(a *located) (location nearby.Location, cell int64) {
	return nearby.Location{ID: a.ID, Category: int64(a.Category), Lat: a.Lat, Lng: a.Lng}, a.Cell
}

// ListAlbumsInBox returns a page of the albums in a box, in the order of their cells.
func (s *server) ListAlbumsInBox(ctx context.Context, request *albumv1.ListAlbumsInBoxRequest) (*albumv1.ListAlbumsInBoxResponse, error) {
	found, next, err := s.boxes.Search(ctx, nearby.BoxQuery[located]{
		Box: nearby.BoxOf(request.GetBounds()), Category: int64(request.GetCategory()),
		Size: service.PageSize(request.GetPageSize(), 1000, service.MaxPage), Token: request.GetPageToken(),
	})
	if err != nil {
		return nil, err
	}
	reply := &albumv1.ListAlbumsInBoxResponse{Albums: make([]*albumv1.LocatedAlbum, len(found)), NextPageToken: next}
	for i, a := range found {
		reply.Albums[i] = &albumv1.LocatedAlbum{
			AlbumId: a.ID, Title: a.Title, Category: albumv1.AlbumCategory(a.Category),
			Location: &typev1.Location{Lat: a.Lat, Lng: a.Lng},
		}
	}
	return reply, nil
}
