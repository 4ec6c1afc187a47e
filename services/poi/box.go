package poi

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math"

	"github.com/golang/geo/s2"

	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/platform/service"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

const (
	// boxCells is about how many cells cover a box. More cells leave less around the box to
	// read in vain, and each costs a seek.
	boxCells = 64
	// leastBatch is the least number of landmarks that a query of a box asks for: a small
	// page may lie among many landmarks around the box.
	leastBatch = 500
	// maxReads bounds the landmarks that a call reads. A call that found too few of them in
	// the box ends with a short page.
	maxReads = 20_000
)

// place is the part of a landmark that a map shows.
type place struct {
	ID       int64   `bson:"_id"`
	Name     string  `bson:"name"`
	Category int64   `bson:"category"`
	Lat      float64 `bson:"lat"`
	Lng      float64 `bson:"lng"`
	Cell     int64   `bson:"cell"`
}

// ListPoisInBox returns a page of the landmarks in a box, in the order of their cells.
func (s *Server) ListPoisInBox(ctx context.Context, request *poiv1.ListPoisInBoxRequest) (*poiv1.ListPoisInBoxResponse, error) {
	b := request.GetBounds()
	walk := boxWalk{
		places: s.places, category: int64(request.GetCategory()),
		box: box{south: b.GetSouth(), west: b.GetWest(), north: b.GetNorth(), east: b.GetEast()},
	}
	after, err := walk.parse(request.GetPageToken())
	if err != nil {
		return nil, err
	}
	found, next, err := walk.page(ctx, after, service.PageSize(request.GetPageSize(), 1000))
	if err != nil {
		return nil, err
	}
	reply := &poiv1.ListPoisInBoxResponse{Pois: make([]*poiv1.LocatedPoi, len(found))}
	if next != nil {
		reply.NextPageToken = walk.token(*next)
	}
	for i, p := range found {
		reply.Pois[i] = &poiv1.LocatedPoi{
			PoiId: p.ID, Name: p.Name, Category: poiv1.PoiCategory(p.Category),
			Location: &typev1.Location{Lat: p.Lat, Lng: p.Lng},
		}
	}
	return reply, nil
}

// boxWalk is a walk through the landmarks of a box, from page to page.
type boxWalk struct {
	places *docstore.Projection[place]
	box    box
	// category is 0 for all categories.
	category int64
}

// cellPosition is a place in the order of a boxWalk: by cell, then by id.
type cellPosition struct{ cell, id int64 }

// page returns the landmarks after a position, at most size, and the position of the next
// page. after is nil at the start, and next is nil at the end.
func (w boxWalk) page(ctx context.Context, after *cellPosition, size int) (found []place, next *cellPosition, err error) {
	reads, batch := 0, max(leastBatch, size+1)
	for _, where := range w.parts(after) {
		for places, err := range w.places.BatchesUpTo(ctx, docstore.Query{Where: where, Limit: batch}, 0) {
			if err != nil {
				return nil, nil, err
			}
			for _, p := range places {
				if !w.box.holds(pointAt(p.Lat, p.Lng)) {
					continue
				}
				if len(found) == size {
					last := found[size-1]
					return found, &cellPosition{last.Cell, last.ID}, nil
				}
				found = append(found, p)
			}
			if reads += len(places); reads >= maxReads && len(places) > 0 {
				last := places[len(places)-1]
				return found, &cellPosition{last.Cell, last.ID}, nil
			}
		}
	}
	return found, nil, nil
}

// parts returns the selections to read after a position, in order: the rest of its cell, and
// the cells behind it.
func (w boxWalk) parts(after *cellPosition) (parts []docstore.Where) {
	todo := w.box.cells()
	if after != nil {
		parts = append(parts, w.cell(after.cell).FromID(after.id+1))
		_, todo = todo.split(after.cell + nextCell)
	}
	if len(todo) > 0 {
		parts = append(parts, todo.where(w.category))
	}
	return parts
}

func (w boxWalk) cell(cell int64) docstore.Where {
	if w.category != 0 {
		return byCategoryAndCell().Is(w.category, cell).Everywhere()
	}
	return byCell().Is(cell).Everywhere()
}

// cells returns a set of cells that covers the box, and possibly more. A pole in the box is
// covered by itself, because its landmarks may have any longitude.
func (b box) cells() cellSet {
	coverer := s2.RegionCoverer{MaxLevel: 30, LevelMod: 1, MaxCells: boxCells}
	set := cellsOf(coverer.Covering(b.enlarged()))
	for _, pole := range [...]float64{-90, 90} {
		if b.south <= pole && pole <= b.north {
			set = set.with(cellsOf(coverer.Covering(capAround(point{lat: pole}.onSphere(), slack))))
		}
	}
	return set
}

// origin ties page tokens to a box and a category.
func (w boxWalk) origin() uint32 {
	sum := fnv.New32a()
	_, _ = fmt.Fprintf(sum, "box %v %v", w.box, w.category)
	return sum.Sum32()
}

// token returns the page token of a position: the origin, the cell and the id.
func (w boxWalk) token(p cellPosition) string {
	token := binary.BigEndian.AppendUint32(make([]byte, 0, tokenBytes), w.origin())
	token = binary.BigEndian.AppendUint64(token, uint64(p.cell))
	token = binary.BigEndian.AppendUint64(token, uint64(p.id))
	return base64.RawURLEncoding.EncodeToString(token)
}

// parse reads a page token. It fails with docstore.ErrBadToken. The empty token means the
// start.
func (w boxWalk) parse(text string) (*cellPosition, error) {
	if text == "" {
		return nil, nil
	}
	token, err := base64.RawURLEncoding.Strict().DecodeString(text)
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
