package album

import (
	"context"

	"github.com/waybook/waybook/internal/content/child"
	"github.com/waybook/waybook/internal/content/nearby"
	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/id"
	"github.com/waybook/waybook/moving/serve"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
)

// newMover returns what moves albums in.
func (s *server) newMover() *serve.Mover[album, photo] {
	return &serve.Mover[album, photo]{
		Kind: s.albums, Profiles: s.profiles, Now: s.now,
		Content: serve.Content[album]{
			Identify: func(a *album, id int64, requestKey string) {
				a.ID, a.RequestKey = id, docstore.OwnedKey(a.OwnerID, requestKey)
			},
			IsSame: hasMoved, Take: takeMoved,
			PlaceOf: func(ownerID int64, _ string) id.Place { return id.PlaceOf(ownerID) },
		},
		Photos: s.photos,
		Photo: child.Moved[photo]{
			Field: "photos",
			Identify: func(p *photo, id, parentID int64, requestKey string) {
				p.ID, p.AlbumID, p.RequestKey = id, parentID, requestKey
			},
			ID: func(p *photo) int64 { return p.ID },
			IsSame: func(a, b *photo) bool {
				return a.ThumbnailURL == b.ThumbnailURL && a.Description == b.Description
			},
			Take: func(stored, from *photo) {
				stored.ThumbnailURL, stored.Description = from.ThumbnailURL, from.Description
			},
		},
	}
}

// MoveInAlbums stores albums of an old service.
func (s *server) MoveInAlbums(ctx context.Context, request *albumv1.MoveInAlbumsRequest) (*albumv1.MoveInAlbumsResponse, error) {
	records, results, err := serve.Records(s.validator, request.GetOptions(), request.GetAlbums(), checkMoved, recordOf)
	if err != nil {
		return nil, err
	}
	if err := s.mover.MoveIn(ctx, request.GetOptions(), records, results); err != nil {
		return nil, err
	}
	return &albumv1.MoveInAlbumsResponse{Results: results}, nil
}

func checkMoved(limits *serve.Limits, moved *albumv1.MovedAlbum) {
	limits.Check(serve.Title, moved.GetTitle(), "title")
	limits.Comments(moved.GetComments())
	for i, each := range moved.GetPhotos() {
		limits.Photo(i, "thumbnail_url", each.GetThumbnailUrl(), each.GetDescription())
	}
}

func recordOf(moved *albumv1.MovedAlbum) *serve.Record[album, photo] {
	record := &serve.Record[album, photo]{
		OldID: moved.GetOldId(), OwnerID: moved.GetOwnerId(), Part: moved.GetPart(), Continues: moved.GetContinues(), Before: moved.GetBefore(),
		Document: album{
			OwnerID: moved.GetOwnerId(), Title: moved.GetTitle(), Category: int32(moved.GetCategory()),
			Lat: moved.GetLocation().GetLat(), Lng: moved.GetLocation().GetLng(),
			Cell:       nearby.CellOf(moved.GetLocation().GetLat(), moved.GetLocation().GetLng()),
			CreateTime: serve.Time(moved.GetCreateTime()), UpdateTime: serve.TimeOr(moved.GetUpdateTime(), moved.GetCreateTime()),
			UnnamedScore: moved.GetUnnamedScore(),
		},
		Photos:       make([]serve.Child[photo], len(moved.GetPhotos())),
		Comments:     serve.Comments(moved.GetComments()),
		Recommenders: moved.GetRecommenderIds(),
	}
	record.Document.MovedMillis = record.Document.UpdateTime.UnixMilli()
	for i, each := range moved.GetPhotos() {
		record.Photos[i] = serve.Child[photo]{
			OldID: each.GetOldId(), Document: photo{ThumbnailURL: each.GetThumbnailUrl(), Description: each.GetDescription()},
		}
	}
	return record
}

// hasMoved reports whether a stored album has the content of one that is moved in.
func hasMoved(stored, from *album) bool {
	return stored.Title == from.Title && stored.Category == from.Category && stored.Lat == from.Lat && stored.Lng == from.Lng &&
		stored.CreateTime.Equal(from.CreateTime) && stored.UpdateTime.Equal(from.UpdateTime) && stored.UnnamedScore == from.UnnamedScore
}

// takeMoved gives a stored album the content of one that is moved in.
func takeMoved(stored, from *album) {
	stored.Title, stored.Category, stored.Lat, stored.Lng = from.Title, from.Category, from.Lat, from.Lng
	stored.Cell = nearby.CellOf(stored.Lat, stored.Lng)
	stored.CreateTime, stored.UpdateTime, stored.MovedMillis, stored.UnnamedScore = from.CreateTime, from.UpdateTime, from.MovedMillis, from.UnnamedScore
}

// ResolveOldIds returns the identifiers that old identifiers stand for.
func (s *server) ResolveOldIds(ctx context.Context, request *albumv1.ResolveOldIdsRequest) (*albumv1.ResolveOldIdsResponse, error) {
	ids, err := s.resolver.Find(ctx, request.GetOldIds())
	return &albumv1.ResolveOldIdsResponse{Ids: ids}, err
}
