package docstore

import (
	"context"
	"fmt"
	"iter"
	"math"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// Query asks for a page of documents in the order of an index.
type Query struct {
	// Index is a declared index, or IDIndex.
	Index string
	// Equal are the values that a document must have in the first fields of the index.
	Equal []any
	// From and To, unless nil, are the lowest and the highest value of the field that
	// follows those of Equal. If From is above To, no document matches.
	From, To any
	// Token is the page token: Page.Next of the previous page, or empty for the first.
	Token string
	// Limit is the maximum number of documents, 1 or more.
	Limit int
}

// MaxPageBytes bounds the total size of the documents of a page, so that a page fits
// into a reply. A page of a single document may be larger.
const MaxPageBytes = 1 << 20

// Page is a page of documents.
type Page[T any] struct {
	Documents []T
	// Next is the token of the next page; empty if this is the last page.
	Next string
}

// Page returns a page of documents. A page may be shorter than query.Limit, because it
// ends before it exceeds MaxPageBytes. Errors: ErrBadToken.
//
// A document that exists during a whole walk from page to page appears exactly once. A
// document that is inserted, deleted or moved in the index during the walk may or may
// not appear.
func (c *Collection[T]) Page(ctx context.Context, query Query) (Page[T], error) {
	fields, err := c.spec.FieldsOf(query.Index)
	if err != nil {
		return Page[T]{}, c.wrap("page", err)
	}
	if query.Limit < 1 || query.Limit == math.MaxInt {
		return Page[T]{}, c.wrap("page", fmt.Errorf("the limit %d is out of range; it must be 1 or more", query.Limit))
	}
	origin, err := c.origin(query, fields)
	if err != nil {
		return Page[T]{}, c.wrap("page", err)
	}
	rest := fields[len(query.Equal):]
	scan := Scan{Index: query.Index, Equal: query.Equal, From: query.From, To: query.To, Limit: query.Limit + 1}
	if query.Token != "" {
		if scan.After, err = parseToken(query.Token, origin, rest); err != nil {
			return Page[T]{}, c.wrap("page", err)
		}
	}
	raws, err := c.table.Scan(ctx, scan)
	if err != nil {
		return Page[T]{}, c.wrap("page", err)
	}
	var page Page[T]
	if length := pageLength(raws, query.Limit); length < len(raws) {
		raws = raws[:length]
		if page.Next, err = tokenOf(raws[len(raws)-1], origin, rest); err != nil {
			return Page[T]{}, c.wrap("page", err)
		}
	}
	page.Documents, err = c.decodeAll(raws)
	return page, err
}

// pageLength returns how many of the documents fit on one page.
func pageLength(raws []bson.Raw, limit int) int {
	size := 0
	for i, raw := range raws {
		size += len(raw)
		if i == limit || i > 0 && size > MaxPageBytes {
			return i
		}
	}
	return len(raws)
}

// Batches iterates over all documents of a query in pages of query.Limit. It keeps one
// page in memory and holds no resource of the store between pages. An error ends the
// iteration.
func (c *Collection[T]) Batches(ctx context.Context, query Query) iter.Seq2[[]T, error] {
	return c.BatchesUpTo(ctx, query, 0)
}

// BatchesUpTo is like Batches, but stops after count documents. It reads at most one
// document more than that. A count of 0 means no limit.
func (c *Collection[T]) BatchesUpTo(ctx context.Context, query Query, count int64) iter.Seq2[[]T, error] {
	if count == 0 {
		count = math.MaxInt64
	}
	return func(yield func([]T, error) bool) {
		query, left := query, count
		for {
			query.Limit = int(min(int64(query.Limit), left))
			page, err := c.Page(ctx, query)
			if err != nil {
				yield(nil, err)
				return
			}
			if len(page.Documents) > 0 && !yield(page.Documents, nil) {
				return
			}
			left -= int64(len(page.Documents))
			if page.Next == "" || left == 0 {
				return
			}
			query.Token = page.Next
		}
	}
}
