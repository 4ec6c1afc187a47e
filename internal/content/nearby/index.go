// Package nearby finds documents by their place on the map: the nearest around a point, and those in
// a box.
package nearby

import "github.com/waybook/waybook/internal/docstore"

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
	ranges := make([]docstore.Range[int64], len(set))
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
