package album

import (
	"context"

	"github.com/waybook/waybook/internal/content/nearby"
	"github.com/waybook/waybook/internal/platform/service"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
)

// SearchNearby returns a page of the albums in an area, nearest first.
func (s *Server) SearchNearby(ctx context.Context, request *albumv1.SearchNearbyRequest) (*albumv1.SearchNearbyResponse, error) {
	found, next, err := s.nearby.Search(ctx, nearby.Query{
		Area: nearby.AreaOf(request), Category: int64(request.GetCategory()),
		Size: service.PageSize(request.GetPageSize(), 100), Token: request.GetPageToken(),
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

func placeOf(a *album) nearby.Place {
	return nearby.Place{ID: a.ID, Category: int64(a.Category), Lat: a.Lat, Lng: a.Lng}
}
