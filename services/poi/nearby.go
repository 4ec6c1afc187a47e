package poi

import (
	"container/heap"
	"context"
	"math"
	"slices"

	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/platform/service"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
)

const (
	// firstLimit and lastLimit bound the landmarks of a query; see docstore.MaxPageBytes.
	firstLimit, lastLimit = 500, 8000
	// thinnestRing is the least part of a ring's area that is tried after a query of the
	// ring reached its limit.
	thinnestRing = 0.3
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

// nearest returns the first landmarks after a position, at most want, in order.
//
// Each step reads a ring with one query. Its cells cover all that is not yet read between
// inner, within which everything is read, and an outer radius. The first query starts at
// the middle's own cell: so it samples the neighbourhood at any density, and reads all of
// an area with few landmarks. Each outer radius follows from the density in the last
// query. Once enough landmarks are read, the farthest of the nearest bounds all later rings.
//
// A query that reaches its limit is not wasted, because no cell is read twice. The next
// ring is thinner then, its cells are smaller, and the limit is higher.
func (s search) nearest(ctx context.Context, after position, want int) ([]found, error) {
	w := walk{search: s, after: after, want: want}
	inner, outer := max(0, after.distance), s.area.radius
	maxCells, limit := fewCells, firstLimit+4*want
	for isFirst := true; ; isFirst = false {
		covering := s.area.ring(inner, outer).cells(maxCells)
		todo := covering.without(w.done)
		if isFirst {
			_, todo = todo.split(cellOf(s.area.middle.lat, s.area.middle.lng))
		}
		read, count, err := w.read(ctx, todo, limit)
		if err != nil {
			return nil, err
		}
		isRead := len(covering.without(w.done)) == 0
		bound := w.bound()
		if isRead && bound <= outer {
			slices.SortFunc(w.best, func(a, b found) int { return comparePositions(a.position, b.position) })
			return w.best, nil
		}
		if len(read) == 0 && !isRead {
			continue // the first query would have begun behind the ring
		}
		// The squares of radii are as areas.
		ring, least := outer*outer-inner*inner, 0.0
		switch {
		case isRead:
			inner, least, read = outer, 4*ring, covering
			limit = min(2*limit, lastLimit)
		case !isFirst:
			least, maxCells, limit = thinnestRing*ring, manyCells, min(2*limit, lastLimit)
		}
		// The next ring should have one and a half times the missing number.
		density := (float64(count) + 0.5) / read.area() * min(1, covering.area()/(math.Pi*ring))
		next := 1.5 * float64(want-w.within(inner)) / (math.Pi * density)
		outer = min(bound, math.Sqrt(inner*inner+max(next, least)))
	}
}

// walk reads the landmarks of a search, each once.
type walk struct {
	search
	after position
	want  int
	// best are the nearest landmarks that have been read, done the cells that have been.
	best farthestFirst
	done cellSet
}

// bound returns a radius beyond which no landmark is wanted.
func (w *walk) bound() float64 {
	if len(w.best) == w.want {
		return w.best[0].distance
	}
	return w.area.radius
}

// within counts the nearest landmarks within a radius.
func (w *walk) within(radius float64) (count int) {
	for _, f := range w.best {
		if f.distance <= radius {
			count++
		}
	}
	return count
}

// read reads landmarks of cells, with one query. It returns the cells of which it read all
// landmarks, and the number of these.
func (w *walk) read(ctx context.Context, todo cellSet, limit int) (read cellSet, count int, err error) {
	if len(todo) == 0 {
		return nil, 0, nil
	}
	page, err := w.pois.Page(ctx, docstore.Query{Where: w.in(todo), Limit: limit})
	if err != nil {
		return nil, 0, err
	}
	pois := page.Documents
	if page.Next != "" {
		// More landmarks may be in the last cell.
		last := pois[len(pois)-1].Cell
		if pois[0].Cell == last {
			return w.readStack(ctx, last)
		}
		for pois[len(pois)-1].Cell == last {
			pois = pois[:len(pois)-1]
		}
		todo, _ = todo.split(last)
	}
	w.keep(pois)
	w.done = w.done.with(todo)
	return todo, len(pois), nil
}

// readStack reads all landmarks of a leaf cell, which has more than fit into a query.
func (w *walk) readStack(ctx context.Context, cell int64) (read cellSet, count int, err error) {
	read = cellSet{{cell, cell}}
	for batch, err := range w.pois.Batches(ctx, docstore.Query{Where: w.in(read), Limit: firstLimit}) {
		if err != nil {
			return nil, 0, err
		}
		w.keep(batch)
		count += len(batch)
	}
	w.done = w.done.with(read)
	return read, count, nil
}

// in selects the landmarks of cells.
func (w *walk) in(set cellSet) docstore.Where {
	ranges := set.ranges()
	if w.category != 0 {
		return byCategoryAndCell().In(w.category, ranges[0], ranges[1:]...)
	}
	return byCell().In(ranges[0], ranges[1:]...)
}

// keep keeps the nearest landmarks that the search wants.
func (w *walk) keep(pois []poi) {
	for _, p := range pois {
		if at, ok := w.locate(p); ok && comparePositions(at, w.after) > 0 {
			w.best.keep(found{at, p}, w.want)
		}
	}
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
