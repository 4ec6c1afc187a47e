// Package nearby finds documents by their place on the map: the nearest around a point, and those in
// a box.
package nearby

import (
	"bytes"
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
	// maxReads is how many entries of the index a call reads before it ends with a short page.
	maxReads = 20_000
	// lastLimit and maxBytes bound the entries of a query.
	lastLimit, maxBytes = 16_000, 1 << 20
)

// Documents are those of a collection, which have the fields of the index. They may be used
// concurrently.
type Documents[P any] struct {
	index Index
	// entries reads entries of the index.
	entries func(ctx context.Context, query docstore.Query) ([]Key, error)
	// shown reads documents as results show them.
	shown      func(ctx context.Context, ids []int64, as ...docstore.Consistency) ([]P, error)
	locationOf func(*P) Location
	// together is that of the store.
	together func(reads ...func() error) error
}

// Location is where a document is, in the index and on the map.
type Location struct {
	Key
	Lat, Lng float64
}

// New returns the documents of a collection. E has the fields of the index, and keyOf returns them; locationOf returns
// the location of a result.
func New[W, E, P any](all *docstore.Collection[int64, W], index Index, keyOf func(*E) Key, shown *docstore.Reader[int64, P], locationOf func(*P) Location) *Documents[P] {
	reader := docstore.Project[E](all)
	entries := func(ctx context.Context, query docstore.Query) (keys []Key, err error) {
		query.MaxBytes = maxBytes
		for batch, err := range reader.Batches(ctx, query) {
			if err != nil {
				return nil, err
			}
			for i := range batch {
				keys = append(keys, keyOf(&batch[i]))
			}
		}
		return keys, nil
	}
	return &Documents[P]{index: index, entries: entries, shown: shown.GetMany, locationOf: locationOf, together: all.Together}
}

// Query asks for a page of documents.
type Query struct {
	Filter
	// Size is the maximum number of documents.
	Size int
	// Token is the page token; empty for the first page.
	Token string
}

// Filter leaves out documents.
type Filter struct {
	// Category is 0 for all categories.
	Category int64
	// Until leaves out the documents of later days; 0 leaves out none. It is not part of page tokens, so a walk
	// continues past midnight.
	Until int64
}

func (f Filter) shows(k Key) bool {
	return (f.Category == 0 || k.Category == f.Category) && (f.Until == 0 || k.Day <= f.Until)
}

// Found is a document and its distance from the middle in metres.
type Found[P any] struct {
	Document P
	Distance float64
	position
}

// DocumentsOf returns the documents of a page.
func DocumentsOf[P any](page []Found[P]) []P {
	documents := make([]P, len(page))
	for i := range page {
		documents[i] = page[i].Document
	}
	return documents
}

// Around returns a page of the documents in a circle, nearest first, and the token of the next one, which is empty on the
// last. A page may be short although another follows; a full one has a token only if something follows. The first of a page
// may be nearer than the last of the one before by a tenth of a metre. Errors: docstore.ErrBadToken.
func (d *Documents[P]) Around(ctx context.Context, circle Circle, query Query) (page []Found[P], next string, err error) {
	s := search[P]{Documents: d, area: circle, Query: query}
	page, next, err = s.page(ctx, s.around)
	slices.SortFunc(page, func(a, b Found[P]) int { return cmp.Or(cmp.Compare(a.Distance, b.Distance), cmp.Compare(a.ID, b.ID)) })
	return page, next, err
}

// In returns a page of the documents in a box of any size, in a stable order, as Around does.
func (d *Documents[P]) In(ctx context.Context, box Box, query Query) (page []Found[P], next string, err error) {
	s := search[P]{Documents: d, area: box, Query: query}
	return s.page(ctx, s.in)
}

// search is a search for the documents in an area.
type search[P any] struct {
	*Documents[P]
	area area
	Query
	// reads counts the entries that were read.
	reads int
}

// position is a place in the order of a search: by the distance in tenths of a metre, which is 0 in a box, then by the key.
type position struct {
	away int64
	Key
}

func (p position) compare(other position) int {
	return cmp.Or(cmp.Compare(p.away, other.away), p.Key.compare(other.Key))
}

// page returns a page of documents, and the token of the next one. next returns the first entries after a position,
// at most want, and the position up to which these are all; isLast if none follow.
func (s *search[P]) page(
	ctx context.Context, next func(ctx context.Context, after *position, want int) (found []position, end position, isLast bool, err error),
) (page []Found[P], token string, err error) {
	after, err := s.parse(s.Token)
	if err != nil {
		return nil, "", err
	}
	for {
		found, end, isLast, err := next(ctx, after, s.Size+1-len(page))
		if err != nil {
			return nil, "", err
		}
		// Some may be deleted or moved meanwhile, or just outside of the area. Then others follow.
		documents, err := s.exactly(ctx, found)
		if err != nil {
			return nil, "", err
		}
		page = append(page, documents...)
		switch {
		case len(page) > s.Size:
			page = page[:s.Size]
			return page, s.tokenOf(page[s.Size-1].position), nil
		case isLast:
			return page, "", nil
		case s.reads >= maxReads && len(page) < s.Size:
			return page, s.tokenOf(end), nil
		}
		after = &end
	}
}

// exactly reads the documents of entries, and returns those that are still there and in the area, in order.
func (s *search[P]) exactly(ctx context.Context, entries []position) (found []Found[P], err error) {
	for chunk := range slices.Chunk(entries, documentsPerRead) {
		ids := make([]int64, len(chunk))
		for i, entry := range chunk {
			ids[i] = entry.ID
		}
		documents, err := s.shown(ctx, ids)
		if err != nil {
			return nil, err
		}
		for i := range documents {
			at := s.locationOf(&documents[i])
			away, isInside := s.area.Locate(at.Lat, at.Lng)
			p := s.area.positionOf(at.Key)
			_, isThere := slices.BinarySearchFunc(chunk, p, position.compare)
			if isThere && isInside && s.shows(at.Key) {
				found = append(found, Found[P]{documents[i], away, p})
			}
		}
	}
	slices.SortFunc(found, func(a, b Found[P]) int { return a.compare(b.position) })
	return found, nil
}

// originBytes is the length of the hash that ties page tokens to a search, because a position is valid in one area only.
// The position follows.
const originBytes = 4

func (s *search[P]) origin() []byte {
	sum := fnv.New32a()
	_, _ = fmt.Fprintf(sum, "%T %v %v %v", s.area, s.area, s.Category, s.Until != 0)
	return sum.Sum(nil)
}

func (s *search[P]) tokenOf(p position) string {
	token := s.origin()
	for _, n := range [...]int64{p.away, p.Cell, p.Day, p.Category, p.ID} {
		token = binary.AppendVarint(token, n)
	}
	return docstore.EncodeToken(token)
}

// parse reads a page token. It fails with docstore.ErrBadToken. The empty token means the start, which is nil.
func (s *search[P]) parse(text string) (*position, error) {
	if text == "" {
		return nil, nil
	}
	token, err := docstore.DecodeToken(text)
	if err != nil || len(token) < originBytes || !bytes.Equal(token[:originBytes], s.origin()) {
		return nil, docstore.ErrBadToken
	}
	var p position
	token = token[originBytes:]
	for _, field := range [...]*int64{&p.away, &p.Cell, &p.Day, &p.Category, &p.ID} {
		n, length := binary.Varint(token)
		*field, token = n, token[max(0, length):]
	}
	if p.away < 0 || float64(p.away) > 10*math.Pi*earthRadius || s.tokenOf(p) != text { // a position has one token
		return nil, docstore.ErrBadToken
	}
	return &p, nil
}
