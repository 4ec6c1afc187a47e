// Package nearby finds documents by their place on the map: the nearest around a point, and those
// in a box.
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
	// Owner is the owner of the document.
	Owner int64
}

// New returns the documents of a collection. E has the fields of the index, and keyOf returns
// them; locationOf returns the location of a result.
func New[W, E, P any](all *docstore.Collection[int64, W], index Index, keyOf func(*E) Key,
	shown *docstore.Reader[int64, P], locationOf func(*P) Location) *Documents[P] {
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
	return &Documents[P]{index: index, entries: entries, shown: shown.GetMany, locationOf: locationOf,
		together: all.Together}
}

// Query asks for a page of documents.
type Query struct {
	Filter
	// Hidden are users whose documents are left out. They are not part of page tokens either.
	Hidden map[int64]bool
	// Size is the maximum number of documents.
	Size int
	// Token is the page token; empty for the first page.
	Token string
}

// Filter leaves out documents.
type Filter struct {
	// Category is 0 for all categories.
	Category int64
	// Until leaves out the documents of later days; 0 leaves out none. It is not part of page
	// tokens, so a walk continues past midnight.
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

// Page is a part of what a search finds.
type Page[P any] struct {
	Found []Found[P]
	// Next is the token of the next page; empty on the last.
	Next string
	// Read is how many entries and documents were read.
	Read int32
}

// Documents returns the documents of a page.
func (p Page[P]) Documents() []P {
	documents := make([]P, len(p.Found))
	for i := range p.Found {
		documents[i] = p.Found[i].Document
	}
	return documents
}

// Around returns a page of the documents in a circle, nearest first. A page may be short although
// another follows; a full one has a token only if something follows. The first of a page may be
// nearer than the last of the one before by a tenth of a metre. Errors: docstore.ErrBadToken.
func (d *Documents[P]) Around(ctx context.Context, circle Circle, query Query) (Page[P], error) {
	s := search[P]{Documents: d, area: circle, Query: query}
	page, err := s.page(ctx, s.around)
	slices.SortFunc(page.Found, func(a, b Found[P]) int {
		return cmp.Or(cmp.Compare(a.Distance, b.Distance), cmp.Compare(a.ID, b.ID))
	})
	return page, err
}

// In returns a page of the documents in a box of any size, in a stable order, as Around does.
func (d *Documents[P]) In(ctx context.Context, box Box, query Query) (Page[P], error) {
	s := search[P]{Documents: d, area: box, Query: query}
	return s.page(ctx, s.in)
}

// search is a search for the documents in an area.
type search[P any] struct {
	*Documents[P]
	area area
	Query
	// reads counts the entries and documents that were read.
	reads int
}

// position is a place in the order of a search: by the distance in tenths of a metre, which is 0
// in a box, then by the key.
type position struct {
	away int64
	Key
}

func (p position) compare(other position) int {
	return cmp.Or(cmp.Compare(p.away, other.away), p.Key.compare(other.Key))
}

// page returns a page of documents, and the token of the next one. next returns the first entries
// after a position, at most want, and the position up to which these are all; isLast if none
// follow.
func (s *search[P]) page(
	ctx context.Context, next func(ctx context.Context, after *position,
		want int) (found []position, end position, isLast bool, err error),
) (Page[P], error) {
	var page []Found[P]
	upTo := func(end string) (Page[P], error) { return Page[P]{page, end, int32(s.reads)}, nil } // #nosec G115 -- a count
	after, err := s.parse(s.Token)
	if err != nil {
		return Page[P]{}, err
	}
	for {
		found, end, isLast, err := next(ctx, after, s.Size+1-len(page))
		if err != nil {
			return Page[P]{}, err
		}
		// Some may be deleted or moved meanwhile, or just outside of the area. Then others follow.
		documents, err := s.exactly(ctx, found)
		if err != nil {
			return Page[P]{}, err
		}
		page = append(page, documents...)
		switch {
		case len(page) > s.Size:
			page = page[:s.Size]
			return upTo(s.tokenOf(page[s.Size-1].position))
		case isLast:
			return upTo("")
		case s.reads >= maxReads && len(page) < s.Size:
			return upTo(s.tokenOf(end))
		}
		after = &end
	}
}

// exactly reads the documents of entries, and returns those that are still there and in the area,
// in order.
func (s *search[P]) exactly(ctx context.Context, entries []position) (found []Found[P], err error) {
	for chunk := range slices.Chunk(entries, documentsPerRead) {
		ids := make([]int64, len(chunk))
		for i, entry := range chunk {
			ids[i] = entry.ID
		}
		s.reads += len(ids)
		documents, err := s.shown(ctx, ids)
		if err != nil {
			return nil, err
		}
		for i := range documents {
			at := s.locationOf(&documents[i])
			away, isInside := s.area.Locate(at.Lat, at.Lng)
			p := s.area.positionOf(at.Key)
			_, isThere := slices.BinarySearchFunc(chunk, p, position.compare)
			if isThere && isInside && s.shows(at.Key) && !s.Hidden[at.Owner] {
				found = append(found, Found[P]{documents[i], away, p})
			}
		}
	}
	slices.SortFunc(found, func(a, b Found[P]) int { return a.compare(b.position) })
	return found, nil
}

// origin returns a hash that ties page tokens to a search, because a position is valid in one area
// only.
func (s *search[P]) origin() []byte {
	sum := fnv.New32a()
	_, _ = fmt.Fprintf(sum, "%T %v %v %v", s.area, s.area, s.Category, s.Until != 0)
	return sum.Sum(nil)
}

func (s *search[P]) tokenOf(p position) string {
	// integers do not fail
	token, _ := binary.Append(s.origin(), binary.BigEndian, [...]int64{p.away, p.Cell, p.Day, p.Category, p.ID})
	return docstore.EncodeToken(token)
}

// parse reads a page token. It fails with docstore.ErrBadToken. The empty token means the start,
// which is nil.
func (s *search[P]) parse(text string) (*position, error) {
	if text == "" {
		return nil, nil
	}
	token, _ := docstore.DecodeToken(text)
	numbers, isOurs := bytes.CutPrefix(token, s.origin())
	var n [5]int64
	if length, err := binary.Decode(numbers, binary.BigEndian, &n); !isOurs || err != nil || length < len(numbers) {
		return nil, docstore.ErrBadToken
	}
	if n[0] < 0 || float64(n[0]) > 10*math.Pi*earthRadius {
		return nil, docstore.ErrBadToken
	}
	return &position{n[0], Key{n[1], n[2], n[3], n[4]}}, nil
}
