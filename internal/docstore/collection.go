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

// maxUpdateTries bounds how often Update and Observe start again. In each round at
// least one of the concurrent writers of a document succeeds, so this is also how many
// writers may compete.
const maxUpdateTries = 256

// Collection is a collection of documents of type T, a struct with bson tags. One of
// the tags is _id.
type Collection[T any] struct {
	spec  Spec
	table Table
	// plan decodes documents; nil if only the driver can.
	plan *plan
}

// Open opens a collection as declared by spec, and creates it if necessary.
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

// InsertMany stores or refuses each document separately. errs[i] is nil or the reason
// why documents[i] was refused: a *DuplicateError or a plain error. If two documents
// exclude each other, the first is stored. err is the failure of the whole call, which
// may have stored some of the documents.
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

// Get returns the document with the given id, or ErrNotFound.
func (c *Collection[T]) Get(ctx context.Context, id any) (T, error) {
	raw, err := c.table.Get(ctx, id)
	if err != nil {
		var none T
		return none, c.wrap("get", err)
	}
	return c.decode(raw)
}

// Exists reports whether a document has the given id.
func (c *Collection[T]) Exists(ctx context.Context, id int64) (bool, error) {
	_, err := c.table.Get(ctx, id)
	if errors.Is(err, ErrNotFound) {
		return false, nil
	}
	return err == nil, c.wrap("get", err)
}

// GetMany returns the documents that exist, in any order, each once.
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

// Find returns the first document of an index whose first index fields have the given
// values, or ErrNotFound.
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

// Update reads a document, calls change to modify it, writes it back, and returns the
// document as written.
//
// If another writer changed the document in the meantime, Update starts again. So
// change may run several times, each time on the current document. If change returns an
// error, Update writes nothing and returns that error unwrapped. change must not modify
// _id. Errors: ErrNotFound, *DuplicateError, and ErrConflict if other writers were
// faster 256 times in a row.
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

// Observe reads a document and calls look with it. If the document has changed when
// look returns, Observe starts again. So everything else that look reads is consistent
// with the document that it was given.
//
// Observe writes nothing. If look returns an error, Observe returns it unwrapped.
// Errors: ErrNotFound, and ErrConflict if the document changed 256 times in a row.
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

// pause waits a random time, longer after more tries, so that concurrent writers of one
// document collide less often.
func pause(ctx context.Context, try int) error {
	if try < 2 {
		return ctx.Err()
	}
	timer := time.NewTimer(rand.N(time.Duration(min(try, 10)) * time.Millisecond)) // #nosec G404 -- a pause needs no secure randomness
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

// Count counts the documents whose first index fields have the given values. Without
// values it counts all documents.
func (c *Collection[T]) Count(ctx context.Context, index string, equal ...any) (int64, error) {
	n, err := c.table.Count(ctx, index, equal)
	return n, c.wrap("count", err)
}

// DeleteAll deletes the documents whose first index fields have the given values, and
// returns how many it deleted. It is not atomic: if it fails, some of them may be
// deleted, and a retry deletes the rest.
func (c *Collection[T]) DeleteAll(ctx context.Context, index string, equal ...any) (int64, error) {
	n, err := c.table.DeleteAll(ctx, index, equal)
	return n, c.wrap("delete all", err)
}

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

// decodeInto decodes a document into the zero value of T.
func (c *Collection[T]) decodeInto(raw bson.Raw, document *T) error {
	if c.plan != nil && c.plan.decode(raw, reflect.ValueOf(document).Elem()) {
		return nil
	}
	var anew T
	err := bson.Unmarshal(raw, &anew)
	*document = anew
	return c.wrap("decode", err)
}

// encode marshals a document to BSON and appends its revision.
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
