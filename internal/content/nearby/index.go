package nearby

import (
	"cmp"

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

// nextCell is the difference between the numbers of adjacent leaf cells.
const nextCell = 2

// CellField is the field with the cell of a document's place; see CellOf.
const CellField = "cell"

// Index is that by which documents are found. It orders them so that near ones are mostly
// together.
type Index struct {
	// Day is the field with the day from which on a document is published, or empty.
	Day string
	// Category is the field with the category.
	Category string
}

// Declare returns the declaration of the index.
func (x Index) Declare() docstore.Index {
	if x.Day != "" {
		return docstore.Index3[int64, int64, int64]{Name: CellField, A: CellField, B: x.Day, C: x.Category}.Declare()
	}
	return docstore.Index2[int64, int64]{Name: CellField, A: CellField, B: x.Category}.Declare()
}

// Key is a document as the index shows it. Day is 0 in an index without one.
type Key struct{ Cell, Day, Category, ID int64 }

func (k Key) compare(other Key) int {
	return cmp.Or(cmp.Compare(k.Cell, other.Cell), cmp.Compare(k.Day, other.Day),
		cmp.Compare(k.Category, other.Category), cmp.Compare(k.ID, other.ID))
}

// valuesOf returns the fields of a key in the order of the index.
func (x Index) valuesOf(k Key) []docstore.Value {
	if x.Day != "" {
		return docstore.ValuesOf([]int64{k.Cell, k.Day, k.Category, k.ID})
	}
	return docstore.ValuesOf([]int64{k.Cell, k.Category, k.ID})
}

// in selects the documents in cells, of which there are some.
func (x Index) in(cells s2.CellUnion) docstore.Where {
	var spans []docstore.Span
	from, to := int64(0), int64(0)
	for i, cell := range cells {
		if first := sortable(cell.RangeMin()); i == 0 || first != to+nextCell {
			if i > 0 {
				spans = append(spans, docstore.Between(from, to))
			}
			from = first
		}
		to = sortable(cell.RangeMax())
	}
	return docstore.All(CellField).Within(append(spans, docstore.Between(from, to))...).Everywhere()
}

// at selects the documents in a leaf cell that a filter shows, and possibly more. All of them have
// the same first values.
func (x Index) at(cell int64, f Filter) (where docstore.Where, same int) {
	where = docstore.All(CellField).And(docstore.ValueOf(cell)).Everywhere()
	switch {
	case x.Day == "" && f.Category != 0:
		return where.And(docstore.ValueOf(f.Category)), 2
	case x.Day != "" && f.Until != 0:
		return where.Within(docstore.UpTo(f.Until)), 1
	}
	return where, 1
}
