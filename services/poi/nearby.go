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

// A search reads rings around the middle from the inside out until it has a page.
const (
	// firstRing is the outer radius in metres of the first ring of the first page.
	firstRing = 100.0
	// nextRing is how many times farther than the last landmark of the page before the
	// first ring of a further page reaches.
	nextRing = 1.01
	// thinnestRing is the least width in metres of a ring that may be given up.
	thinnestRing = 1.0
	// widestGrowth bounds how many times larger the next ring's radius is.
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

// search looks for the landmarks of an area.
type search struct {
	pois *docstore.Collection[poi]
	area area
	// category is 0 for all.
	category int64
}

// found is a landmark and where it is in the order.
type found struct {
	position
	poi poi
}

// errCrowded says that a ring holds many times more than is wanted.
var errCrowded = errors.New("a crowded ring")

// nearest returns the first landmarks behind a position, at most want, in order.
//
// How wide a ring has to be depends on how dense the landmarks are there. The first
// is a guess, the next ones go by what the last one held, and one that turns out to
// hold many times more than is wanted is given up for its inner part: a page costs
// about the same among many landmarks as among few. It costs more where a crowd is
// smaller than the cells of a wide ring through it, since all of it is looked at then,
// and so is all of a stack at one point; the memory does not grow with either.
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

// grow is the outer radius of the ring behind one that held count landmarks, so that
// it may hold as many as are wanted, and half as many again. It is at least as wide,
// so that there are few rings whatever they hold.
func grow(inner, outer float64, count, want int) float64 {
	if count == 0 {
		return outer * widestGrowth
	}
	density := float64(count) / (outer*outer - inner*inner)
	next := math.Sqrt(outer*outer + 1.5*float64(want)/density)
	return min(max(next, 2*outer-inner), outer*widestGrowth)
}

// read reads the ring between a position and a radius and returns its nearest
// landmarks, at most want, in order, and how many it holds in all. When there are many
// more it gives up with errCrowded, unless it must read the whole.
func (s search) read(ctx context.Context, after position, outer float64, want int, whole bool) (best []found, count int, err error) {
	enough := 4*want + 2*ringBatch
	nearest := make(farthestFirst, 0, min(want, 128))
	for _, cells := range s.area.ring(after.distance, outer).cells() {
		query := docstore.Query{Index: cellIndex, From: cells.from, To: cells.to, Limit: ringBatch}
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

// locate returns where a landmark is in the order, if it is looked for.
func (s search) locate(p poi) (position, bool) {
	if s.category != 0 && p.Category != s.category {
		return position{}, false
	}
	place := pointAt(p.Lat, p.Lng)
	away := distance(s.area.middle, place)
	return position{away, p.ID}, s.area.holds(place, away)
}

// farthestFirst is a heap whose first landmark is the farthest.
type farthestFirst []found

// keep adds a landmark, and drops the farthest when there are more than want.
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

// Push and Pop are what package heap calls.
func (h *farthestFirst) Push(f any) { *h = append(*h, f.(found)) }

func (h *farthestFirst) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}
