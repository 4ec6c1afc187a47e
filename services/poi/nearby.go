package poi

import (
	"container/heap"
	"context"
	"errors"
	"math"
	"slices"

	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/platform/service"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
)

// A search reads rings around the middle, from the inside out, until a page is full.
const (
	// firstRing is the outer radius of the first ring of the first page, in metres.
	firstRing = 100.0
	// nextRing determines the first ring of a later page. Its outer radius is nextRing
	// times the distance of the previous page's last landmark.
	nextRing = 1.01
	// thinnestRing is the minimum width, in metres, of a ring that the search may give up.
	thinnestRing = 1.0
	// widestGrowth bounds the growth of the radius from one ring to the next.
	widestGrowth = 8.0
	// ringBatch is how many landmarks are read at a time.
	ringBatch = 500
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
	search := search{pois: s.pois.Documents, area: a, category: int64(request.GetCategory())}
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
	area area
	// category is 0 for all categories.
	category int64
}

// found is a landmark and its position in the order.
type found struct {
	position
	poi poi
}

// errCrowded reports that a ring holds many times more landmarks than are wanted.
var errCrowded = errors.New("a crowded ring")

// nearest returns the first landmarks after a position, at most want, in order.
//
// The right width of a ring depends on the density of landmarks. The first width is a
// guess, and each next one follows from the number in the previous ring. If a ring holds
// many times more landmarks than are wanted, the search reads an inner part of it instead.
// So a page costs about the same in dense and in sparse areas. Two cases cost more time but
// no more memory: a cluster smaller than the cells of a wide ring, and a stack at one
// point. In both, the search reads all landmarks of the cluster or stack.
func (s search) nearest(ctx context.Context, after position, want int) ([]found, error) {
	var all []found
	inner, outer := max(0, after.distance), max(firstRing, after.distance*nextRing)
	for {
		outer = min(outer, s.area.radius)
		isThin := outer-inner <= thinnestRing
		best, count, err := s.read(ctx, after, outer, want-len(all), isThin)
		if errors.Is(err, errCrowded) {
			outer = inner + (outer-inner)/2
			continue
		}
		if err != nil {
			return nil, err
		}
		all = append(all, best...)
		if len(all) >= want || outer >= s.area.radius {
			return all, nil
		}
		next := grow(inner, outer, count, want-len(all))
		inner, outer, after = outer, next, endOf(outer)
	}
}

// grow returns the outer radius of the next ring after one with count landmarks. The next
// ring should hold one and a half times the wanted number. It is at least as wide as the
// last one, so the number of rings stays small.
func grow(inner, outer float64, count, want int) float64 {
	if count == 0 {
		return outer * widestGrowth
	}
	density := float64(count) / (outer*outer - inner*inner)
	next := math.Sqrt(outer*outer + 1.5*float64(want)/density)
	return min(max(next, 2*outer-inner), outer*widestGrowth)
}

// read reads the ring between a position and a radius. It returns the nearest landmarks in
// order, at most want, and the number in the ring. If the ring holds many more, it fails
// with errCrowded, unless whole is true.
func (s search) read(ctx context.Context, after position, outer float64, want int, whole bool) (best []found, count int, err error) {
	enough := 4*want + 2*ringBatch
	nearest := make(farthestFirst, 0, min(want, 128))
	for _, cells := range s.area.ring(after.distance, outer).cells() {
		query := docstore.Query{Where: byCell().In(docstore.Between(cells.from, cells.to)), Limit: ringBatch}
		for pois, err := range s.pois.Batches(ctx, query) {
			if err != nil {
				return nil, 0, err
			}
			for _, p := range pois {
				at, ok := s.locate(p)
				if !ok || at.distance > outer || comparePositions(at, after) <= 0 {
					continue
				}
				count++
				nearest.keep(found{at, p}, want)
			}
			if count > enough && !whole {
				return nil, 0, errCrowded
			}
		}
	}
	slices.SortFunc(nearest, func(a, b found) int { return comparePositions(a.position, b.position) })
	return nearest, count, nil
}

// locate returns a landmark's position in the order, and whether the search wants it.
func (s search) locate(p poi) (position, bool) {
	if s.category != 0 && p.Category != s.category {
		return position{}, false
	}
	place := pointAt(p.Lat, p.Lng)
	away := distance(s.area.middle, place)
	return position{away, p.ID}, s.area.holds(place, away)
}

// farthestFirst is a heap with the farthest landmark on top.
type farthestFirst []found

// keep adds a landmark, and removes the farthest when there are more than want.
func (h *farthestFirst) keep(f found, want int) {
	if len(*h) < want {
		heap.Push(h, f)
	} else if comparePositions(f.position, (*h)[0].position) < 0 {
		(*h)[0] = f
		heap.Fix(h, 0)
	}
}

func (h farthestFirst) Len() int           { return len(h) }
func (h farthestFirst) Less(i, j int) bool { return comparePositions(h[i].position, h[j].position) > 0 }
func (h farthestFirst) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }

// Push and Pop implement heap.Interface.
func (h *farthestFirst) Push(f any) { *h = append(*h, f.(found)) }

func (h *farthestFirst) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}
