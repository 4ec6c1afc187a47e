package docstore

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"

	"go.mongodb.org/mongo-driver/v2/bson"
)

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
