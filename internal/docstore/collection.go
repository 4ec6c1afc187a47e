package docstore

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"reflect"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// maxUpdateTries bounds how often Update reads and writes back. Among writers of
// one document each round lets one through, so this is also how many may meet.
const maxUpdateTries = 256

// Collection is a collection of documents of type T, a struct with bson tags of
// which one is _id.
type Collection[T any] struct {
	spec  Spec
	table Table
	// plan decodes documents; nil when only the driver can.
	plan *plan
}

// Open declares a collection in a store and returns it.
func Open[T any](ctx context.Context, engine Engine, spec Spec) (*Collection[T], error) {
	if err := spec.Validate(); err != nil {
		return nil, err
	}
	table, err := engine.Open(ctx, spec)
	if err != nil {
		return nil, fmt.Errorf("open collection %s: %w", spec.Name, err)
	}
	return &Collection[T]{spec: spec, table: table, plan: planFor(reflect.TypeFor[T]())}, nil
}

// Name is the collection's name.
func (c *Collection[T]) Name() string { return c.spec.Name }

// Insert stores a new document. Errors: *DuplicateError.
func (c *Collection[T]) Insert(ctx context.Context, document T) error {
	errs, err := c.InsertMany(ctx, []T{document})
	if err != nil {
		return err
	}
	return c.wrap("insert", errs[0])
}

// InsertMany stores each document or refuses it by itself: errs[i] is nil or why
// documents[i] was refused, a *DuplicateError or a plain error. Among documents that
// exclude each other the first is stored. err is for the call as a whole; the
// documents may then have been stored in part.
func (c *Collection[T]) InsertMany(ctx context.Context, documents []T) (errs []error, err error) {
	if len(documents) == 0 {
		return nil, nil
	}
	raws := make([]bson.Raw, len(documents))
	for i := range documents {
		if raws[i], err = encode(&documents[i], 1); err != nil {
			return nil, c.wrap("insert", err)
		}
	}
	if errs, err = c.table.Insert(ctx, raws); err != nil {
		return nil, c.wrap("insert", err)
	}
	return errs, nil
}

// Get returns the document with an id, or ErrNotFound.
func (c *Collection[T]) Get(ctx context.Context, id any) (T, error) {
	raw, err := c.table.Get(ctx, id)
	if err != nil {
		var none T
		return none, c.wrap("get", err)
	}
	return c.decode(raw)
}

// Exists tells whether there is a document with an id.
func (c *Collection[T]) Exists(ctx context.Context, id int64) (bool, error) {
	_, err := c.table.Get(ctx, id)
	if errors.Is(err, ErrNotFound) {
		return false, nil
	}
	return err == nil, c.wrap("get", err)
}

// GetMany returns those of the documents that exist, in any order, each once.
func (c *Collection[T]) GetMany(ctx context.Context, ids []int64) ([]T, error) {
	values := make([]any, len(ids))
	for i, id := range ids {
		values[i] = id
	}
	raws, err := c.table.GetMany(ctx, values)
	if err != nil {
		return nil, c.wrap("get many", err)
	}
	return c.decodeAll(raws)
}

// Find returns the first document whose first fields in an index have the values
// given, or ErrNotFound.
func (c *Collection[T]) Find(ctx context.Context, index string, equal ...any) (T, error) {
	var none T
	raws, err := c.table.Scan(ctx, Scan{Index: index, Equal: equal, Limit: 1})
	if err != nil {
		return none, c.wrap("find", err)
	}
	if len(raws) == 0 {
		return none, c.wrap("find", ErrNotFound)
	}
	return c.decode(raws[0])
}

// Update reads a document, lets change alter it, and writes it back if nobody else
// changed it in between; otherwise it starts again, so change may run several
// times, each time on the document as it then is. An error of change ends Update,
// is returned as it is, and nothing is written. The change must leave _id alone.
// Update returns the document as written. Errors: ErrNotFound, *DuplicateError,
// ErrConflict when others were first 256 times in a row.
func (c *Collection[T]) Update(ctx context.Context, id any, change func(*T) error) (T, error) {
	var none T
	for try := range maxUpdateTries {
		raw, err := c.table.Get(ctx, id)
		if err != nil {
			return none, c.wrap("update", err)
		}
		document, err := c.decode(raw)
		if err != nil {
			return none, err
		}
		if err := change(&document); err != nil {
			return none, err
		}
		revision, err := RevisionOf(raw)
		if err != nil {
			return none, c.wrap("update", err)
		}
		next, err := encode(&document, revision+1)
		if err != nil {
			return none, c.wrap("update", err)
		}
		if !next.Lookup("_id").Equal(raw.Lookup("_id")) {
			return none, c.wrap("update", fmt.Errorf("the change altered the _id of document %v", id))
		}
		err = c.table.Replace(ctx, revision, next)
		if err == nil {
			return document, nil
		}
		if !errors.Is(err, ErrConflict) {
			return none, c.wrap("update", err)
		}
		if err := pause(ctx, try); err != nil {
			return none, c.wrap("update", err)
		}
	}
	return none, c.wrap("update", ErrConflict)
}

// Observe reads a document and lets look see it; when somebody has changed the document
// by the time look is done it starts again. So what look has read elsewhere belongs to
// the document as it saw it. Nothing is written. An error of look ends Observe and is
// returned as it is. Errors: ErrNotFound, ErrConflict when others changed the document
// 256 times in a row.
func (c *Collection[T]) Observe(ctx context.Context, id any, look func(*T) error) error {
	for try := range maxUpdateTries {
		before, err := c.table.Get(ctx, id)
		if err != nil {
			return c.wrap("observe", err)
		}
		document, err := c.decode(before)
		if err != nil {
			return err
		}
		if err := look(&document); err != nil {
			return err
		}
		after, err := c.table.Get(ctx, id)
		if err != nil {
			return c.wrap("observe", err)
		}
		if after.Lookup(RevisionField).Equal(before.Lookup(RevisionField)) {
			return nil
		}
		if err := pause(ctx, try); err != nil {
			return c.wrap("observe", err)
		}
	}
	return c.wrap("observe", ErrConflict)
}

// pause waits a random while that grows with the tries, so that writers of one
// document get out of each other's way.
func pause(ctx context.Context, try int) error {
	if try < 2 {
		return ctx.Err()
	}
	timer := time.NewTimer(rand.N(time.Duration(min(try, 10)) * time.Millisecond)) // #nosec G404 -- a pause
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// Delete removes a document, or returns ErrNotFound.
func (c *Collection[T]) Delete(ctx context.Context, id any) error {
	return c.wrap("delete", c.table.Delete(ctx, id))
}

// Count counts the documents whose first fields in an index have the values given;
// none given counts all.
func (c *Collection[T]) Count(ctx context.Context, index string, equal ...any) (int64, error) {
	n, err := c.table.Count(ctx, index, equal)
	return n, c.wrap("count", err)
}

// DeleteAll deletes the documents whose first fields in an index have the values
// given and tells how many there were. It is not atomic: when it fails some may be
// gone, and calling it again goes on.
func (c *Collection[T]) DeleteAll(ctx context.Context, index string, equal ...any) (int64, error) {
	n, err := c.table.DeleteAll(ctx, index, equal)
	return n, c.wrap("delete all", err)
}

// Query asks for a page of documents in the order of an index.
type Query struct {
	// Index is a declared index, or IDIndex.
	Index string
	// Equal are the values that the index's first fields must have.
	Equal []any
	// From and To, unless nil, are the lowest and the highest value that the field
	// after those of Equal may have. From above To is a range of nothing.
	From, To any
	// Token is where the page starts: Next of the page before, or empty.
	Token string
	// Limit is the highest number of documents, 1 or more.
	Limit int
}

// MaxPageBytes bounds the documents of a page, unless it is a single one, so that a
// page fits into a reply whatever the documents hold.
const MaxPageBytes = 1 << 20

// Page is a page of documents.
type Page[T any] struct {
	Documents []T
	// Next is the token of the next page; empty when this is the last.
	Next string
}

// Page returns a page of documents. A document that is there throughout a walk from
// page to page comes exactly once; one that comes, goes or moves may or may not. A
// page may be shorter than asked for: it ends before it exceeds MaxPageBytes.
// Errors: ErrBadToken.
func (c *Collection[T]) Page(ctx context.Context, query Query) (Page[T], error) {
	fields, err := c.spec.FieldsOf(query.Index)
	if err != nil {
		return Page[T]{}, c.wrap("page", err)
	}
	if query.Limit < 1 || query.Limit == math.MaxInt {
		return Page[T]{}, c.wrap("page", fmt.Errorf("a limit of %d", query.Limit))
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

// pageLength is how many of some documents make a page.
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

// Batches walks all documents of a query page by page, query.Limit at a time. It
// holds one page in memory and no resource of the store between pages. An error
// ends the walk.
func (c *Collection[T]) Batches(ctx context.Context, query Query) iter.Seq2[[]T, error] {
	return c.BatchesUpTo(ctx, query, 0)
}

// BatchesUpTo is Batches that ends after count documents, unless that is 0, and reads
// no more than the one behind them.
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

func (c *Collection[T]) wrap(verb string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s %s: %w", verb, c.spec.Name, err)
}

func (c *Collection[T]) decode(raw bson.Raw) (T, error) {
	var document T
	return document, c.decodeInto(raw, &document)
}

func (c *Collection[T]) decodeAll(raws []bson.Raw) ([]T, error) {
	documents := make([]T, len(raws))
	for i, raw := range raws {
		if err := c.decodeInto(raw, &documents[i]); err != nil {
			return nil, err
		}
	}
	return documents, nil
}

// decodeInto decodes a document into one that is zero.
func (c *Collection[T]) decodeInto(raw bson.Raw, document *T) error {
	if c.plan != nil && c.plan.decode(raw, reflect.ValueOf(document).Elem()) {
		return nil
	}
	var anew T
	err := bson.Unmarshal(raw, &anew)
	*document = anew
	return c.wrap("decode", err)
}

// encode makes BSON of a document and appends its revision.
func encode(document any, revision int64) (bson.Raw, error) {
	raw, err := bson.Marshal(document)
	if err != nil {
		return nil, err
	}
	raw = append(raw[:len(raw)-1], byte(bson.TypeInt64))
	raw = append(raw, RevisionField...)
	raw = append(raw, 0)
	raw = binary.LittleEndian.AppendUint64(raw, uint64(revision))
	raw = append(raw, 0)
	binary.LittleEndian.PutUint32(raw, uint32(len(raw)))
	return raw, nil
}
