package nearby

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math"

	"github.com/golang/geo/s2"

	"github.com/waybook/waybook/internal/docstore"
)

const (
	// boxCells is about how many cells cover a box. More cells leave less around the box to
	// read in vain, and each costs a seek.
	boxCells = 64
	// leastBatch is the least number of documents that a query of a box asks for: a small
	// page may lie among many documents around the box.
	leastBatch = 500
	// maxReads bounds the documents that a call reads. A call that found too few of them in
	// the box and shown ends with a short page.
	maxReads = 20_000
)

// Boxes are documents as maps show them: of type T, with the field of cells. They may be used
// concurrently.
type Boxes[T any] struct {
	indexes    Indexes
	all        *docstore.Reader[int64, T]
	locationOf func(*T) (location Location, cell int64)
}

// NewBoxes returns the documents of a projection.
func NewBoxes[T any](all *docstore.Reader[int64, T], indexes Indexes, locationOf func(*T) (location Location, cell int64)) *Boxes[T] {
	return &Boxes[T]{indexes, all, locationOf}
}

// BoxQuery asks for a page of the documents in a box of any size, in the order of their cells.
type BoxQuery[T any] struct {
	Box Box
	// Category is 0 for all categories.
	Category int64
	Filter[T]
	// Size is the maximum number of documents.
	Size int
	// Token is the page token; empty for the first page.
	Token string
}

// Search returns a page of documents, and the token of the next one, which is empty on the last. A page may be short
// although another follows; a full one has a token only if something follows. Errors: docstore.ErrBadToken.
func (b *Boxes[T]) Search(ctx context.Context, query BoxQuery[T]) (page []T, next string, err error) {
	walk := boxWalk[T]{b, query.Box, query.Category, query.Filter}
	after, err := walk.parse(query.Token)
	if err != nil {
		return nil, "", err
	}
	page, position, err := walk.page(ctx, after, query.Size)
	if position != nil {
		next = walk.token(*position)
	}
	return page, next, err
}

// boxWalk is a walk through the documents of a box, from page to page.
type boxWalk[T any] struct {
	*Boxes[T]
	box Box
	// category is 0 for all categories.
	category int64
	Filter[T]
}

// cellPosition is a place in the order of a boxWalk: by cell, then by id.
type cellPosition struct{ cell, id int64 }

// page returns the documents after a position, at most size, and the position of the next
// page. after is nil at the start, and next is nil at the end.
func (w boxWalk[T]) page(ctx context.Context, after *cellPosition, size int) (found []T, next *cellPosition, err error) {
	reads, batch := 0, max(leastBatch, size+1)
	for _, where := range w.parts(after) {
		for documents, err := range w.all.Batches(ctx, docstore.Query{Where: where, Limit: batch}) {
			if err != nil {
				return nil, nil, err
			}
			for i := range documents {
				if location, _ := w.locationOf(&documents[i]); !w.box.Holds(location.Lat, location.Lng) || !w.shows(&documents[i]) {
					continue
				}
				if len(found) == size {
					return found, w.positionOf(&found[size-1]), nil
				}
				found = append(found, documents[i])
			}
			if reads += len(documents); reads >= maxReads && len(found) < size && len(documents) > 0 {
				return found, w.positionOf(&documents[len(documents)-1]), nil
			}
		}
	}
	return found, nil, nil
}

func (w boxWalk[T]) positionOf(document *T) *cellPosition {
	location, cell := w.locationOf(document)
	return &cellPosition{cell, location.ID}
}

// parts returns the selections to read after a position, in order: the rest of its cell, and
// the cells behind it.
func (w boxWalk[T]) parts(after *cellPosition) (parts []docstore.Where) {
	todo := w.box.cells()
	if after != nil {
		parts = append(parts, w.indexes.at(after.cell, w.category).FromID(after.id+1))
		_, todo = todo.split(after.cell + nextCell)
	}
	if len(todo) > 0 {
		parts = append(parts, w.indexes.in(todo, w.category))
	}
	return parts
}

// cells returns a set of cells that covers the box, and possibly more. A pole in the box is
// covered by itself, because its documents may have any longitude.
func (b Box) cells() cellSet {
	coverer := s2.RegionCoverer{MaxLevel: 30, LevelMod: 1, MaxCells: boxCells}
	set := cellsOf(coverer.Covering(b.enlarged()))
	for _, pole := range [...]float64{-90, 90} {
		if b.south <= pole && pole <= b.north {
			set = set.with(cellsOf(coverer.Covering(capAround(point{lat: pole}.onSphere(), slack))))
		}
	}
	return set
}

// origin ties page tokens to a box, a category and a filter.
func (w boxWalk[T]) origin() uint32 {
	sum := fnv.New32a()
	_, _ = fmt.Fprintf(sum, "box %v %v%s", w.box, w.category, w.Of)
	return sum.Sum32()
}

// token returns the page token of a position: the origin, the cell and the id.
func (w boxWalk[T]) token(p cellPosition) string {
	token := binary.BigEndian.AppendUint32(make([]byte, 0, tokenBytes), w.origin())
	token = binary.BigEndian.AppendUint64(token, uint64(p.cell))
	token = binary.BigEndian.AppendUint64(token, uint64(p.id))
	return docstore.EncodeToken(token)
}

// parse reads a page token. It fails with docstore.ErrBadToken. The empty token means the
// start.
func (w boxWalk[T]) parse(text string) (*cellPosition, error) {
	if text == "" {
		return nil, nil
	}
	token, err := docstore.DecodeToken(text)
	if err != nil || len(token) != tokenBytes || binary.BigEndian.Uint32(token) != w.origin() {
		return nil, docstore.ErrBadToken
	}
	p := &cellPosition{
		cell: int64(binary.BigEndian.Uint64(token[originBytes:])),
		id:   int64(binary.BigEndian.Uint64(token[originBytes+8:])),
	}
	if !isLeaf(p.cell) || p.id < 1 || p.id == math.MaxInt64 {
		return nil, docstore.ErrBadToken
	}
	return p, nil
}
