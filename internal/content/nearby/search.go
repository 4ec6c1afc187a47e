// Package nearby finds documents by their place on the map: the nearest around a point, and those in
// a box.
package nearby

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math"
	"slices"

	"github.com/waybook/waybook/internal/docstore"
)

const (
	// documentsPerRead bounds the documents that are read at a time.
	documentsPerRead = 500
	// mostWanted bounds the documents that a walk looks for, and with that what a call reads, unless more are at
	// one point. A call that found too few of them shown ends with a short page.
	mostWanted = 3000
	// mostWalks bounds the walks of a search during which documents are deleted or moved.
	mostWalks = 5
)

// Documents are those of a collection, which have the fields of the indexes. They may be used
// concurrently.
type Documents[P any] struct {
	indexes Indexes
	// entries are the documents as the indexes show them, and shown as results show them.
	entries    *docstore.Reader[int64, entry]
	shown      Shown[P]
	locationOf func(*P) Location
	// together is that of the store.
	together func(reads ...func() error) error
}

// Shown are documents as results show them: a collection or a projection.
type Shown[P any] interface {
	GetMany(ctx context.Context, ids []int64, as ...docstore.Consistency) ([]P, error)
}

// Location is where a document is on the map.
type Location struct {
	ID, Category int64
	Lat, Lng     float64
}

// New returns the documents of a collection. locationOf returns the location of a result.
func New[W, P any](all *docstore.Collection[int64, W], shown Shown[P], indexes Indexes, locationOf func(*P) Location) *Documents[P] {
	return &Documents[P]{indexes: indexes, entries: docstore.Project[entry](all), shown: shown, locationOf: locationOf, together: all.Together}
}

// Query asks for a page of the documents in a circle, nearest first.
type Query[P any] struct {
	Circle Circle
	// Category is 0 for all categories.
	Category int64
	Filter[P]
	// Size is the maximum number of documents.
	Size int
	// Token is the page token; empty for the first page.
	Token string
}

// Filter leaves documents out of a search that no index leaves out.
type Filter[P any] struct {
	// IsShown is nil for all documents.
	IsShown func(*P) bool
	// Of ties page tokens to the filter.
	Of string
}

func (f Filter[P]) shows(document *P) bool { return f.IsShown == nil || f.IsShown(document) }

// Found is a document and its position in the order.
type Found[P any] struct {
	Position
	Document P
}

// DocumentsOf returns the documents of a page.
func DocumentsOf[P any](page []Found[P]) []P {
	documents := make([]P, len(page))
	for i := range page {
		documents[i] = page[i].Document
	}
	return documents
}

// Search returns a page of documents, and the token of the next one, which is empty on the last. A page may be short
// although another follows; a full one has a token only if something follows. Errors: docstore.ErrBadToken.
func (d *Documents[P]) Search(ctx context.Context, query Query[P]) (page []Found[P], next string, err error) {
	origin := originOf(query.Circle, query.Category, query.Of)
	after, err := parsePosition(query.Token, origin)
	if err != nil {
		return nil, "", err
	}
	s := search[P]{d, query.Circle, query.Category, query.Filter}
	for want := query.Size + 1; ; want = min(4*want, mostWanted) {
		found, end, err := s.nearest(ctx, after, want)
		if err != nil {
			return nil, "", err
		}
		page = append(page, found...)
		switch {
		case len(page) > query.Size:
			page = page[:query.Size]
			return page, page[query.Size-1].token(origin), nil
		case end.Distance >= query.Circle.radius:
			return page, "", nil
		case want == mostWanted && len(page) < query.Size:
			return page, end.token(origin), nil
		}
		after = end
	}
}

// search is a search for the documents in a circle.
type search[P any] struct {
	*Documents[P]
	circle Circle
	// category is 0 for all categories.
	category int64
	Filter[P]
}

// nearest looks for the first documents after a position, at most want, in order. It returns those that are shown,
// and a position up to which these are all.
//
// It first walks over the entries of an index, which give each document's place to within
// cellError, and then reads those documents that may be wanted.
func (s search[P]) nearest(ctx context.Context, after Position, want int) ([]Found[P], Position, error) {
	for range mostWalks {
		w := walk[P]{search: s, middle: s.circle.middle.onSphere(), after: after, want: want}
		if err := w.walk(ctx); err != nil {
			return nil, Position{}, err
		}
		nearest, count, err := w.exactly(ctx)
		if err != nil {
			return nil, Position{}, err
		}
		// If some are missing, they were deleted or moved meanwhile, and others follow.
		if count >= len(w.sure) {
			return nearest, Position{w.bound(), math.MaxInt64}, nil
		}
	}
	return nil, Position{}, docstore.ErrConflict
}

// exactly reads the candidates. It returns the shown documents of the search, at most as many as wanted, in order, and
// the number of all within the bound.
func (w *walk[P]) exactly(ctx context.Context) (nearest []Found[P], count int, err error) {
	bound := w.bound()
	for chunk := range slices.Chunk(w.candidates(), documentsPerRead) {
		documents, err := w.shown.GetMany(ctx, chunk)
		if err != nil {
			return nil, 0, err
		}
		for i := range documents {
			at, ok := w.locate(w.locationOf(&documents[i]))
			if !ok || at.Distance > bound || Compare(at, w.after) <= 0 {
				continue
			}
			if count++; w.shows(&documents[i]) {
				nearest = append(nearest, Found[P]{at, documents[i]})
			}
		}
		slices.SortFunc(nearest, func(a, b Found[P]) int { return Compare(a.Position, b.Position) })
		nearest = nearest[:min(len(nearest), w.want)]
	}
	return nearest, count, nil
}

// locate returns a document's position in the order, and whether it is in the circle.
func (s search[P]) locate(p Location) (Position, bool) {
	if s.category != 0 && p.Category != s.category {
		return Position{}, false
	}
	away, isInside := s.circle.Locate(p.Lat, p.Lng)
	return Position{away, p.ID}, isInside
}

// Position is a position in the order of a search: by distance in metres, then by id.
type Position struct {
	Distance float64
	ID       int64
}

// start is before every document.
var start = Position{Distance: -1}

// Compare compares positions.
func Compare(a, b Position) int {
	return cmp.Or(cmp.Compare(a.Distance, b.Distance), cmp.Compare(a.ID, b.ID))
}

// A page token consists of its search's origin, the distance and the id.
const (
	originBytes = 4
	tokenBytes  = originBytes + 8 + 8
)

// originOf ties page tokens to a search, because a position is valid in one circle only.
func originOf(c Circle, category int64, filter string) uint32 {
	sum := fnv.New32a()
	_, _ = fmt.Fprintf(sum, "%v %v %v%s", c.middle, c.radius, category, filter)
	return sum.Sum32()
}

func (p Position) token(origin uint32) string {
	token := binary.BigEndian.AppendUint32(make([]byte, 0, tokenBytes), origin)
	token = binary.BigEndian.AppendUint64(token, math.Float64bits(p.Distance))
	token = binary.BigEndian.AppendUint64(token, uint64(p.ID))
	return docstore.EncodeToken(token)
}

// parsePosition reads a page token. It fails with docstore.ErrBadToken. The empty token
// means start.
func parsePosition(text string, origin uint32) (Position, error) {
	if text == "" {
		return start, nil
	}
	token, err := docstore.DecodeToken(text)
	if err != nil || len(token) != tokenBytes || binary.BigEndian.Uint32(token) != origin {
		return Position{}, docstore.ErrBadToken
	}
	p := Position{
		Distance: math.Float64frombits(binary.BigEndian.Uint64(token[originBytes:])),
		ID:       int64(binary.BigEndian.Uint64(token[originBytes+8:])),
	}
	// NaN fails the comparisons.
	if !(p.Distance >= 0 && p.Distance <= math.Pi*earthRadius) || math.Signbit(p.Distance) || p.ID < 1 {
		return Position{}, docstore.ErrBadToken
	}
	return p, nil
}
