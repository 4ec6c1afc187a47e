package nearby

import (
	"context"
	"math"
	"slices"

	"github.com/golang/geo/s2"

	"github.com/waybook/waybook/internal/docstore"
)

const (
	// boxCells is about how many cells cover a box. More cells leave less around the box to
	// read in vain, and each costs a seek.
	boxCells = 64
	// leastBatch is the least number of entries that a query of a box asks for: a small
	// page may lie among many entries around the box.
	leastBatch = 500
	// firstLimit bounds the entries of the first query of a circle.
	firstLimit = 1000
	// fewCells cover a wide circle, manyCells a crowded one. A few large cells would lie mostly
	// outside of what is left of a circle, while each cell costs a seek.
	fewCells, manyCells = 16, 256
	// thinnestRing is the least part of a ring's area that is tried after a query of the
	// ring reached its limit.
	thinnestRing = 0.3
	// cellError is more than the distance of two points in a leaf cell, in metres.
	cellError = 0.03
)

// in reads the entries in a box in the order of the index.
func (s *search[P]) in(ctx context.Context, after *position,
	want int) (found []position, end position, isLast bool, err error) {
	box := s.area.(Box)
	limit, enlarged := max(leastBatch, want), box.enlarged()
	query := docstore.Query{Where: s.index.in(box.cells(boxCells)), Limit: limit, Most: limit}
	if after != nil {
		end, query.After = *after, s.index.valuesOf(after.Key)
	}
	for s.reads < maxReads {
		keys, err := s.entries(ctx, query)
		if err != nil {
			return nil, end, false, err
		}
		s.reads += len(keys)
		for _, k := range keys {
			end = position{Key: k}
			if s.shows(k) && mayHold(enlarged, k.Cell) {
				found = append(found, end)
			}
			if len(found) == want {
				return found, end, false, nil
			}
		}
		if len(keys) < query.Most {
			return found, end, true, nil
		}
		if s.Until != 0 && end.Day > s.Until { // and so are all that follow at this place
			end.Day, end.Category, end.ID = math.MaxInt64, math.MaxInt64, math.MaxInt64
		}
		query.After = s.index.valuesOf(end.Key)
	}
	return found, end, false, nil
}

// walk reads the entries of a circle, each once.
type walk[P any] struct {
	*search[P]
	circle Circle
	after  position
	want   int
	// found are the nearest of the entries that were read: at most want, in order.
	found []position
	// done are the cells that have been read.
	done s2.CellUnion
}

// around reads the entries in a circle until those beyond them are not wanted.
//
// Each step reads, with one query, all that is not yet read within an outer radius. The first step
// is two queries together, which start at the middle's own cell and go both ways: so it samples
// the neighbourhood at any density, and reads all of an area with few documents. It mostly has all
// that a small page wants. Each outer radius follows from the density in the last step. Once
// enough documents are found, the farthest of them bounds all later steps.
//
// A query that reaches its limit is not wasted, because no cell is read twice. The next
// ring is thinner then, its cells are smaller, and the limit is higher.
func (s *search[P]) around(ctx context.Context, after *position,
	want int) (found []position, end position, isLast bool, err error) {
	circle := s.area.(Circle)
	w, start := walk[P]{search: s, circle: circle, after: position{away: -1}, want: want}, 0.0
	maxCells, limit, growth := fewCells, firstLimit+4*want, 2
	if s.Filter != (Filter{}) {
		limit, growth = 2*limit, 4
	}
	if after != nil {
		w.after, maxCells = *after, manyCells
		start = max(0, float64(after.away)-0.5) / 10
		coverer := s2.RegionCoverer{MaxLevel: 30, LevelMod: 1, MaxCells: manyCells}
		w.done = coverer.InteriorCovering(circle.within(max(0, start-slack)))
	}
	// All entries up to inner are read.
	inner, outer := start, w.bound()
	for isFirst := true; ; isFirst = false {
		cells := covering(circle.within(outer+slack), maxCells)
		read, count, shown, err := w.read(ctx, s2.CellUnionFromDifference(cells, w.done), limit, isFirst)
		if err != nil {
			return nil, end, false, err
		}
		isRead := w.done.Contains(cells)
		bound := w.bound()
		// The squares of radii are as areas.
		ring, least := outer*outer-inner*inner, 0.0
		switch {
		case isRead && bound <= outer:
			if len(w.found) < want {
				return w.found, end, true, nil
			}
			return w.found, w.found[want-1], false, nil
		case isRead:
			inner, least, read = outer, 4*ring, cells
			limit = min(growth*limit, lastLimit)
		case !isFirst:
			least, maxCells, limit = thinnestRing*ring, manyCells, min(growth*limit, lastLimit)
		}
		if end = wholly(inner); s.Filter != (Filter{}) && s.reads >= maxReads && end.away > w.after.away {
			return w.found[:w.count(end)], end, false, nil
		}
		// The next ring should have one and a half times the missing number, and its entries
		// should fit into a query.
		area := read.AverageArea() * earthRadius * earthRadius / min(1,
			cells.AverageArea()*earthRadius*earthRadius/(math.Pi*ring))
		missing := float64(want - w.count(end))
		next := min(1.5*missing*area/(float64(shown)+0.5), 0.8*float64(limit)*area/(float64(count)+0.5)) / math.Pi
		outer = min(bound, math.Sqrt(inner*inner+max(next, least)))
	}
}

// bound returns a radius beyond which no document is wanted.
func (w *walk[P]) bound() float64 {
	bound := w.circle.radius + cellError
	if len(w.found) == w.want {
		bound = min(bound, (float64(w.found[w.want-1].away)+0.5)/10)
	}
	return bound
}

// wholly returns the last position of which all documents are within a radius.
func wholly(radius float64) position {
	return position{int64(math.Floor(10*radius - 0.5)), Key{Cell: math.MaxInt64}}
}

// count counts the found documents up to a position.
func (w *walk[P]) count(end position) int {
	count, _ := slices.BinarySearchFunc(w.found, end, position.compare)
	return count
}

// read reads entries of cells: from the middle both ways, half as many each, or with one query. It
// returns the cells of which it read all entries, the number of these, and how many of them the
// filter shows.
func (w *walk[P]) read(ctx context.Context, todo s2.CellUnion, limit int,
	fromMiddle bool) (read s2.CellUnion, count, shown int, err error) {
	parts := []part{{todo: todo, limit: limit}}
	if fromMiddle {
		before, behind := split(todo, CellOf(w.circle.middle.lat, w.circle.middle.lng))
		parts = []part{{todo: behind, limit: limit / 2}, {todo: before, limit: limit / 2, isDescending: true}}
	}
	queries := make([]func() error, len(parts))
	for i := range parts {
		queries[i] = func() error { return w.query(ctx, &parts[i]) }
	}
	if err := w.together(queries...); err != nil {
		return nil, 0, 0, err
	}
	for _, p := range parts {
		w.reads += p.reads
		count, shown = count+len(p.keys), shown+w.keep(p.keys)
		read = s2.CellUnionFromUnion(read, p.todo)
	}
	w.done = s2.CellUnionFromUnion(w.done, read)
	return read, count, shown, nil
}

// part is one query of entries.
type part struct {
	// todo are the cells to read, and then those of which all entries were read.
	todo         s2.CellUnion
	limit, reads int
	isDescending bool
	keys         []Key
}

// query reads a part. If it reaches its limit in the first leaf cell, it reads what is wanted of
// that.
func (w *walk[P]) query(ctx context.Context, p *part) (err error) {
	if len(p.todo) == 0 {
		return nil
	}
	p.keys, err = w.entries(ctx, docstore.Query{Where: w.index.in(p.todo), Limit: p.limit, Most: p.limit,
		Descending: p.isDescending})
	if p.reads = len(p.keys); err != nil || p.reads < p.limit {
		return err
	}
	// More entries may be in the last cell.
	last := p.keys[len(p.keys)-1].Cell
	if p.keys[0].Cell == last {
		p.todo, p.keys = s2.CellUnion{cellID(last)}, nil
		return w.queryCell(ctx, p, last)
	}
	for p.keys[len(p.keys)-1].Cell == last {
		p.keys = p.keys[:len(p.keys)-1]
	}
	if p.isDescending {
		_, p.todo = split(p.todo, last+nextCell)
	} else {
		p.todo, _ = split(p.todo, last)
	}
	return nil
}

// queryCell reads the first entries of a leaf cell that are wanted. No others are, because they
// are in the order of the search.
func (w *walk[P]) queryCell(ctx context.Context, p *part, cell int64) error {
	where, same := w.index.at(cell, w.Filter)
	query := docstore.Query{Where: where, Limit: p.limit, Most: p.limit}
	first := w.circle.positionOf(Key{Cell: cell})
	if cell == w.after.Cell && first.away == w.after.away {
		query.After = w.index.valuesOf(w.after.Key)[same:]
	} else if first.compare(w.after) < 0 {
		return nil
	}
	for shown := 0; shown < w.want; {
		keys, err := w.entries(ctx, query)
		if err != nil {
			return err
		}
		p.reads += len(keys)
		for _, k := range keys {
			if w.shows(k) {
				p.keys, shown = append(p.keys, k), shown+1
			}
		}
		if len(keys) < query.Most {
			return nil
		}
		query.After = w.index.valuesOf(keys[len(keys)-1])[same:]
	}
	return nil
}

// split returns the cells before a leaf cell, and the others.
func split(cells s2.CellUnion, at int64) (before, others s2.CellUnion) {
	first, end := s2.CellIDFromFace(0).ChildBeginAtLevel(s2.MaxLevel), s2.CellIDFromFace(5).ChildEndAtLevel(s2.MaxLevel)
	before = s2.CellUnionFromIntersection(cells, s2.CellUnionFromRange(first, cellID(at)))
	return before, s2.CellUnionFromIntersection(cells, s2.CellUnionFromRange(cellID(at), end))
}

// keep adds those of the entries to found that the search may want, and returns how many the
// filter shows.
func (w *walk[P]) keep(keys []Key) (shown int) {
	bound := w.bound()
	var last Key
	var p position
	for _, k := range keys {
		if !w.shows(k) {
			continue
		}
		if shown++; k.Cell != last.Cell || shown == 1 {
			p = w.circle.positionOf(k)
		}
		last, p.Key = k, k
		if float64(p.away)-0.5 <= 10*bound && p.compare(w.after) > 0 {
			w.found = append(w.found, p)
		}
	}
	slices.SortFunc(w.found, position.compare)
	w.found = w.found[:min(len(w.found), w.want)]
	return shown
}
