package poi

import (
	"context"
	"slices"

	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/platform/service"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
)

const (
	// landmarksPerRead bounds the landmarks that are read at a time.
	landmarksPerRead = 500
	// mostWalks bounds the walks of a search during which landmarks are deleted or moved.
	mostWalks = 5
)

// SearchNearby returns a page of the landmarks in an area, nearest first.
func (s *Server) SearchNearby(ctx context.Context, request *poiv1.SearchNearbyRequest) (*poiv1.SearchNearbyResponse, error) {
	a := areaOf(request)
	origin := originOf(a, request.GetCategory())
	after, err := parsePosition(request.GetPageToken(), origin)
	if err != nil {
		return nil, err
	}
	size := service.PageSize(request.GetPageSize(), 100)
	search := search{pois: s.pois.Documents, entries: s.entries, area: a, category: int64(request.GetCategory())}
	found, err := search.nearest(ctx, after, size+1)
	if err != nil {
		return nil, err
	}
	reply := &poiv1.SearchNearbyResponse{}
	if len(found) > size {
		found = found[:size]
		reply.NextPageToken = found[size-1].token(origin)
	}
	ownerIDs := make([]int64, len(found))
	for i, f := range found {
		ownerIDs[i] = f.poi.OwnerID
	}
	owners := s.profiles.Show(ctx, ownerIDs...)
	reply.Pois = make([]*poiv1.FoundPoi, len(found))
	for i, f := range found {
		reply.Pois[i] = &poiv1.FoundPoi{Poi: poiProto(f.poi, owners[f.poi.OwnerID]), DistanceMeters: f.distance}
	}
	return reply, nil
}

// search is a search for the landmarks of an area.
type search struct {
	pois *docstore.Collection[int64, poi]
	// entries are the landmarks as the indexes of cells show them.
	entries *docstore.Projection[entry]
	area    area
	// category is 0 for all categories.
	category int64
}

// found is a landmark and its position in the order.
type found struct {
	position
	poi poi
}

// nearest returns the first landmarks after a position, at most want, in order.
//
// It first walks over the entries of an index, which give each landmark's place to within
// cellError, and then reads those landmarks that may be wanted.
func (s search) nearest(ctx context.Context, after position, want int) ([]found, error) {
	for range mostWalks {
		w := walk{search: s, middle: s.area.middle.onSphere(), after: after, want: want}
		if err := w.walk(ctx); err != nil {
			return nil, err
		}
		nearest, err := s.exactly(ctx, w.candidates(), after, want)
		if err != nil {
			return nil, err
		}
		// If some are missing, they were deleted or moved meanwhile, and others follow.
		if len(nearest) >= len(w.sure) {
			return nearest, nil
		}
	}
	return nil, docstore.ErrConflict
}

// exactly reads landmarks and returns those that the search wants, at most want, in order.
func (s search) exactly(ctx context.Context, ids []int64, after position, want int) ([]found, error) {
	var nearest []found
	for chunk := range slices.Chunk(ids, landmarksPerRead) {
		pois, err := s.pois.GetMany(ctx, chunk)
		if err != nil {
			return nil, err
		}
		for _, p := range pois {
			if at, ok := s.locate(p); ok && comparePositions(at, after) > 0 {
				nearest = append(nearest, found{at, p})
			}
		}
		slices.SortFunc(nearest, func(a, b found) int { return comparePositions(a.position, b.position) })
		nearest = nearest[:min(len(nearest), want)]
	}
	return nearest, nil
}

// locate returns a landmark's position in the order, and whether it is in the area.
func (s search) locate(p poi) (position, bool) {
	if s.category != 0 && p.Category != s.category {
		return position{}, false
	}
	place := pointAt(p.Lat, p.Lng)
	away := distance(s.area.middle, place)
	return position{away, p.ID}, s.area.holds(place, away)
}
