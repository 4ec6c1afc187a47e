package nearby

import (
	"cmp"
	"math"
	"slices"

	"github.com/golang/geo/s2"

	"github.com/waybook/waybook/internal/docstore"
)

// CellOf returns the S2 leaf cell of a place as an integer with the same order. Cells that
// are close in that order are mostly close on the map.
func CellOf(lat, lng float64) int64 {
	return sortable(s2.CellIDFromLatLng(s2.LatLngFromDegrees(lat, lng)))
}

// SetLocation adds the fields of a place to those that are set in a document.
func SetLocation(set map[string]any, lat, lng float64) {
	set["lat"], set["lng"], set[CellField] = lat, lng, CellOf(lat, lng)
}

func sortable(cell s2.CellID) int64 { return int64(uint64(cell) ^ 1<<63) }

// cellID is the inverse of sortable.
func cellID(cell int64) s2.CellID { return s2.CellID(uint64(cell) ^ 1<<63) }

// isLeaf reports whether a number is that of a leaf cell.
func isLeaf(cell int64) bool {
	id := cellID(cell)
	return id.IsValid() && id.IsLeaf()
}

// nextCell is the difference between the numbers of adjacent leaf cells.
const nextCell = 2

// cells is a range of leaf cells, including both ends.
type cells struct{ from, to int64 }

// cellSet is a set of leaf cells: ranges in ascending order with gaps between them.
type cellSet []cells

// cellsOf returns the leaf cells of a covering.
func cellsOf(covering s2.CellUnion) cellSet {
	var set cellSet
	for _, cell := range covering {
		set = append(set, cells{from: sortable(cell.RangeMin()), to: sortable(cell.RangeMax())})
	}
	return set.with(nil)
}

// with returns the union of two sets.
func (s cellSet) with(other cellSet) cellSet {
	all := slices.Concat(s, other)
	slices.SortFunc(all, func(a, b cells) int { return cmp.Compare(a.from, b.from) })
	joined := all[:0]
	for _, next := range all {
		if last := len(joined) - 1; last >= 0 && joined[last].to+nextCell >= next.from {
			joined[last].to = max(joined[last].to, next.to)
			continue
		}
		joined = append(joined, next)
	}
	return joined
}

// without returns the cells that are not in the other set.
func (s cellSet) without(other cellSet) (rest cellSet) {
	for _, c := range s {
		for _, o := range other {
			if o.to < c.from {
				continue
			}
			if o.from > c.to {
				break
			}
			if o.from > c.from {
				rest = append(rest, cells{c.from, o.from - nextCell})
			}
			c.from = o.to + nextCell
		}
		if c.from <= c.to {
			rest = append(rest, c)
		}
	}
	return rest
}

// split returns the cells before a cell, and the others.
func (s cellSet) split(at int64) (before, others cellSet) {
	for _, c := range s {
		if c.from < at {
			before = append(before, cells{c.from, min(c.to, at-nextCell)})
		}
		if c.to >= at {
			others = append(others, cells{max(c.from, at), c.to})
		}
	}
	return before, others
}

// area returns the approximate area of the set, in square metres.
func (s cellSet) area() float64 {
	const leaf = 4 * math.Pi * earthRadius * earthRadius / (6 << 60)
	sum := 0.0
	for _, c := range s {
		sum += float64(c.to-c.from)/nextCell + 1
	}
	return sum * leaf
}

// CellField is the field with the cell of a document's place; see CellOf.
const CellField = "cell"

// Indexes are those by which documents are found.
type Indexes struct {
	// Category is the field with the category of a document.
	Category string
}

// Declare returns the declarations of the indexes.
func (x Indexes) Declare() []docstore.Index {
	return []docstore.Index{x.byCell().Declare(), x.byCategory().Declare()}
}

// byCell orders documents so that near ones are mostly together.
func (x Indexes) byCell() docstore.Index1[int64] {
	return docstore.Index1[int64]{Name: CellField, A: CellField}
}

// byCategory orders a category's documents like byCell.
func (x Indexes) byCategory() docstore.Index2[int64, int64] {
	return docstore.Index2[int64, int64]{Name: x.Category + "_" + CellField, A: x.Category, B: CellField}
}

// in selects the documents in a set of cells, which is not empty. The category is 0 for all.
func (x Indexes) in(set cellSet, category int64) docstore.Where {
	ranges := make([]docstore.Span, len(set))
	for i, c := range set {
		ranges[i] = docstore.Between(c.from, c.to)
	}
	if category != 0 {
		return x.byCategory().In(category, ranges[0], ranges[1:]...).Everywhere()
	}
	return x.byCell().In(ranges[0], ranges[1:]...).Everywhere()
}

// at selects the documents in a cell. The category is 0 for all.
func (x Indexes) at(cell, category int64) docstore.Where {
	if category != 0 {
		return x.byCategory().Is(category, cell).Everywhere()
	}
	return x.byCell().Is(cell).Everywhere()
}
