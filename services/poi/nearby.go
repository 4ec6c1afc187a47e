package poi

import (
	"context"

	"github.com/waybook/waybook/internal/content/nearby"
	"github.com/waybook/waybook/internal/platform/service"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// SearchNearby returns a page of the landmarks in an area, nearest first.
func (s *Server) SearchNearby(ctx context.Context, request *poiv1.SearchNearbyRequest) (*poiv1.SearchNearbyResponse, error) {
	found, next, err := s.nearby.Search(ctx, nearby.Query{
		Area: nearby.AreaOf(request), Category: int64(request.GetCategory()),
		Size: service.PageSize(request.GetPageSize(), 100), Token: request.GetPageToken(),
	})
	if err != nil {
		return nil, err
	}
	pois := s.showAll(ctx, nearby.DocumentsOf(found))
	reply := &poiv1.SearchNearbyResponse{Pois: make([]*poiv1.FoundPoi, len(found)), NextPageToken: next}
	for i, f := range found {
		reply.Pois[i] = &poiv1.FoundPoi{Poi: pois[i], DistanceMeters: f.Distance}
	}
	return reply, nil
}

func placeOf(p *poi) nearby.Place {
	return nearby.Place{ID: p.ID, Category: p.Category, Lat: p.Lat, Lng: p.Lng}
}

// located is the part of a landmark that a map shows.
type located struct {
	ID       int64   `bson:"_id"`
	Name     string  `bson:"name"`
	Category int64   `bson:"category"`
	Lat      float64 `bson:"lat"`
	Lng      float64 `bson:"lng"`
	Cell     int64   `bson:"cell"`
}

func placeOfLocated(p *located) (place nearby.Place, cell int64) {
	return nearby.Place{ID: p.ID, Category: p.Category, Lat: p.Lat, Lng: p.Lng}, p.Cell
}

// ListPoisInBox returns a page of the landmarks in a box, in the order of their cells.
func (s *Server) ListPoisInBox(ctx context.Context, request *poiv1.ListPoisInBoxRequest) (*poiv1.ListPoisInBoxResponse, error) {
	b := request.GetBounds()
	found, next, err := s.boxes.Search(ctx, nearby.BoxQuery{
		Box: nearby.NewBox(b.GetSouth(), b.GetWest(), b.GetNorth(), b.GetEast()), Category: int64(request.GetCategory()),
		Size: service.PageSize(request.GetPageSize(), 1000), Token: request.GetPageToken(),
	})
	if err != nil {
		return nil, err
	}
	reply := &poiv1.ListPoisInBoxResponse{Pois: make([]*poiv1.LocatedPoi, len(found)), NextPageToken: next}
	for i, p := range found {
		reply.Pois[i] = &poiv1.LocatedPoi{
			PoiId: p.ID, Name: p.Name, Category: poiv1.PoiCategory(p.Category),
			Location: &typev1.Location{Lat: p.Lat, Lng: p.Lng},
		}
	}
	return reply, nil
}
