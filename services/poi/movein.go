package poi

import (
	"context"
	"strings"

	"github.com/waybook/waybook/internal/content/aliases"
	"github.com/waybook/waybook/internal/content/child"
	"github.com/waybook/waybook/internal/content/nearby"
	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/id"
	"github.com/waybook/waybook/moving/serve"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
)

// newMover returns what moves landmarks in.
func (s *server) newMover() *serve.Mover[poi, photo] {
	return &serve.Mover[poi, photo]{
		Kind: s.pois, Profiles: s.profiles, Now: s.now,
		Content: serve.Content[poi]{
			Identify: func(p *poi, id int64, requestKey string) {
				p.ID, p.RequestKey = id, docstore.OwnedKey(p.OwnerID, requestKey)
			},
			IsSame: hasMoved, Take: takeMoved,
			PlaceOf: s.placeOfMoved,
		},
		Photos: s.photos,
		Photo: child.Moved[photo]{
			Field: "photos",
			Identify: func(p *photo, id, parentID int64, requestKey string) {
				p.ID, p.PoiID, p.RequestKey = id, parentID, requestKey
			},
			ID: func(p *photo) int64 { return p.ID },
			IsSame: func(a, b *photo) bool {
				return a.URL == b.URL && a.Description == b.Description
			},
			Take: func(stored, from *photo) {
				stored.URL, stored.Description = from.URL, from.Description
			},
		},
	}
}

// MoveInPois stores landmarks of an old service.
func (s *server) MoveInPois(ctx context.Context, request *poiv1.MoveInPoisRequest) (*poiv1.MoveInPoisResponse, error) {
	records, results, err := serve.Records(s.validator, request.GetOptions(), request.GetPois(), checkMoved, recordOf)
	if err != nil {
		return nil, err
	}
	if err := s.mover.MoveIn(ctx, request.GetOptions(), records, results); err != nil {
		return nil, err
	}
	return &poiv1.MoveInPoisResponse{Results: results}, nil
}

func checkMoved(limits *serve.Limits, moved *poiv1.MovedPoi) {
	limits.Check(serve.Name, moved.GetName(), "name")
	limits.Comments(moved.GetComments())
	for i, each := range moved.GetPhotos() {
		limits.Photo(i, "photo_url", each.GetPhotoUrl(), each.GetDescription())
	}
}

func recordOf(moved *poiv1.MovedPoi) *serve.Record[poi, photo] {
	record := &serve.Record[poi, photo]{
		OldID: moved.GetOldId(), OwnerID: moved.GetOwnerId(), Part: moved.GetPart(), Continues: moved.GetContinues(), Before: moved.GetBefore(),
		Document: poi{
			OwnerID: moved.GetOwnerId(), Name: moved.GetName(), Category: int64(moved.GetCategory()),
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
			OldID: each.GetOldId(), Document: photo{URL: each.GetPhotoUrl(), Description: each.GetDescription()},
		}
	}
	return record
}

// hasMoved reports whether a stored landmark has the content of one that is moved in.
func hasMoved(stored, from *poi) bool {
	return stored.Name == from.Name && stored.Category == from.Category && stored.Lat == from.Lat && stored.Lng == from.Lng &&
		stored.CreateTime.Equal(from.CreateTime) && stored.UpdateTime.Equal(from.UpdateTime) && stored.UnnamedScore == from.UnnamedScore
}

// takeMoved gives a stored landmark the content of one that is moved in.
func takeMoved(stored, from *poi) {
	stored.Name, stored.Category, stored.Lat, stored.Lng, stored.Cell = from.Name, from.Category, from.Lat, from.Lng, from.Cell
	stored.CreateTime, stored.UpdateTime, stored.MovedMillis, stored.UnnamedScore = from.CreateTime, from.UpdateTime, from.MovedMillis, from.UnnamedScore
}

// ResolveOldIds returns the identifiers that old identifiers stand for.
func (s *server) ResolveOldIds(ctx context.Context, request *poiv1.ResolveOldIdsRequest) (*poiv1.ResolveOldIdsResponse, error) {
	ids, err := s.resolver.Find(ctx, request.GetOldIds())
	return &poiv1.ResolveOldIdsResponse{Ids: ids}, err
}

// placeOfMoved returns the place of a landmark that is moved in: that which its owner and key name,
// or its identifier if it was drawn here.
func (s *server) placeOfMoved(ownerID int64, requestKey string) id.Place {
	oldID := strings.TrimPrefix(requestKey, aliases.RequestPrefix)
	if number, isNumber := id.ParseOld(oldID); isNumber && id.IsDrawn(number, s.now()) {
		return id.PlaceOf(number)
	}
	return id.PlaceOfKey(ownerID, requestKey)
}
