package nearby

import (
	"container/heap"
	"context"
	"math"

	"github.com/golang/geo/s2"

	"github.com/waybook/waybook/internal/docstore"
)

const (
	// firstLimit, lastLimit and maxBytes bound the entries of a query.
	firstLimit, lastLimit, maxBytes = 1000, 16_000, 1 << 20
	// thinnestRing is the least part of a ring's area that is tried after a query of the
	// ring reached its limit.
	thinnestRing = 0.3
	// cellError is more than the distance of two points in a leaf cell, in metres.
	cellError = 0.03
)

// entry is a document as the indexes of cells show it.
type entry struct {
	ID   int64 `bson:"_id"`
	Cell int64 `bson:"cell"`
}

// walk reads the entries of a search, each once.
type walk[P any] struct {
	search[P]
	// middle is that of the circle.
	middle s2.Point
	after  Position
	want   int
	// near are the entries that have been read and may be among the nearest documents.
	near []nearEntry
	// sure are the nearest distances of documents that are certainly wanted, or so they are
	// while nobody changes them. There are at most want.
	sure farthestDistance
	// done are the cells that have been read.
	done cellSet
}

// nearEntry is a document's id and its distance from the middle, to within cellError.
type nearEntry struct {
	id   int64
	away float64
}

// walk reads the entries until no document beyond them can be wanted.
//
// Each step reads a ring with one query. Its cells cover all that is not yet read between
// inner, within which everything is read, and an outer radius. The first step is two queries
// together, which start at the middle's own cell and go both ways: so it samples the
// neighbourhood at any density, and reads all of an area with few documents. It mostly has all
// that a small page wants. Each outer radius follows from the density in the last step. Once enough
// documents are read, the farthest of the nearest bounds all later rings.
//
// A query that reaches its limit is not wasted, because no cell is read twice. The next
// ring is thinner then, its cells are smaller, and the limit is higher.
func (w *walk[P]) walk(ctx context.Context) error {
	inner, outer := max(0, w.after.Distance), w.circle.radius
	maxCells, limit := fewCells, firstLimit+4*w.want
	for isFirst := true; ; isFirst = false {
		covering := w.circle.ring(inner, outer).cells(maxCells)
		read, count, err := w.read(ctx, covering.without(w.done), limit, isFirst)
		if err != nil {
			return err
		}
		isRead := len(covering.without(w.done)) == 0
		bound := w.bound()
		if isRead && bound <= outer {
			return nil
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
		next := 1.5 * float64(w.want-w.within(inner)) / (math.Pi * density)
		outer = min(bound, math.Sqrt(inner*inner+max(next, least)))
	}
}

// bound returns a radius beyond which no document is wanted.
func (w *walk[P]) bound() float64 {
	if len(w.sure) == w.want {
		return min(w.circle.radius, w.sure[0]+2*cellError)
	}
	return w.circle.radius
}

// within counts the nearest documents within a radius.
func (w *walk[P]) within(radius float64) (count int) {
	for _, away := range w.sure {
		if away <= radius {
			count++
		}
	}
	return count
}

// candidates returns the documents that may be among the nearest.
func (w *walk[P]) candidates() (ids []int64) {
	bound := w.bound() + cellError
	for _, entry := range w.near {
		if entry.away <= bound {
			ids = append(ids, entry.id)
		}
	}
	return ids
}

// read reads entries of cells: from the middle both ways, half as many each, or with one query. It
// returns the cells of which it read all entries, and the number of these.
func (w *walk[P]) read(ctx context.Context, todo cellSet, limit int, fromMiddle bool) (read cellSet, count int, err error) {
	parts := []part{{todo: todo, limit: limit}}
	if fromMiddle {
		before, behind := todo.split(CellOf(w.circle.middle.lat, w.circle.middle.lng))
		parts = []part{{todo: behind, limit: limit / 2}, {todo: before, limit: limit / 2, isDescending: true}}
	}
	queries := make([]func() error, len(parts))
	for i := range parts {
		queries[i] = func() error { return w.query(ctx, &parts[i]) }
	}
	if err := w.together(queries...); err != nil {
		return nil, 0, err
	}
	for _, p := range parts {
		n := len(p.entries)
		if p.isStack {
			if n, err = w.readStack(ctx, p.todo); err != nil {
				return nil, 0, err
			}
		} else {
			w.keep(p.entries)
		}
		w.done = w.done.with(p.todo)
		read, count = read.with(p.todo), count+n
	}
	return read, count, nil
}

// part is one query of entries.
type part struct {
	// todo are the cells to read, and then those of which all entries were read.
	todo         cellSet
	limit        int
	isDescending bool
	entries      []entry
	// isStack says that todo is a leaf cell with more entries than fit into a query.
	isStack bool
}

// query reads a part.
func (w *walk[P]) query(ctx context.Context, p *part) error {
	if len(p.todo) == 0 {
		return nil
	}
	page, err := w.entries.Page(ctx, docstore.Query{Where: w.indexes.in(p.todo, w.category), Limit: p.limit, MaxBytes: maxBytes, Descending: p.isDescending})
	if err != nil {
		return err
	}
	p.entries = page.Documents
	if page.Next == "" {
		return nil
	}
	// More entries may be in the last cell.
	last := p.entries[len(p.entries)-1].Cell
	if p.entries[0].Cell == last {
		p.todo, p.isStack = cellSet{{last, last}}, true
		return nil
	}
	for p.entries[len(p.entries)-1].Cell == last {
		p.entries = p.entries[:len(p.entries)-1]
	}
	if p.isDescending {
		_, p.todo = p.todo.split(last + nextCell)
	} else {
		p.todo, _ = p.todo.split(last)
	}
	return nil
}

// readStack reads all entries of a leaf cell, which has more than fit into a query.
func (w *walk[P]) readStack(ctx context.Context, cell cellSet) (count int, err error) {
	for batch, err := range w.entries.Batches(ctx, docstore.Query{Where: w.indexes.in(cell, w.category), Limit: firstLimit}) {
		if err != nil {
			return 0, err
		}
		w.keep(batch)
		count += len(batch)
	}
	return count, nil
}

// keep keeps the entries of documents that the search may want.
func (w *walk[P]) keep(entries []entry) {
	for _, e := range entries {
		at := cellID(e.Cell).Point()
		away := chordDistance(w.middle, at)
		if away+cellError < w.after.Distance || away-cellError > w.bound() || e.ID == w.after.ID {
			continue
		}
		w.near = append(w.near, nearEntry{e.ID, away})
		if away-cellError > w.after.Distance && away+cellError <= w.circle.radius {
			w.sure.keep(away, w.want)
		}
	}
}

// chordDistance returns the distance of two points along the surface, in metres. It is exact to
// a millimetre for up to a quarter of the Earth's circumference.
func chordDistance(a, b s2.Point) float64 {
	return 2 * earthRadius * math.Asin(min(1, b.Sub(a.Vector).Norm()/2))
}

// farthestDistance is a heap of distances with the farthest on top.
type farthestDistance []float64

// keep adds a distance, and removes the farthest when there are more than want.
func (h *farthestDistance) keep(away float64, want int) {
	if len(*h) < want {
		heap.Push(h, away)
	} else if away < (*h)[0] {
		(*h)[0] = away
		heap.Fix(h, 0)
	}
}

func (h farthestDistance) Len() int           { return len(h) }
func (h farthestDistance) Less(i, j int) bool { return h[i] > h[j] }
func (h farthestDistance) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }

// Push and Pop implement heap.Interface.
func (h *farthestDistance) Push(away any) { *h = append(*h, away.(float64)) }

func (h *farthestDistance) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}
