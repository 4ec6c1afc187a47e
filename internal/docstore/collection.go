package docstore

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// Collection is a collection of documents of type T, a struct with bson tags. One of
// the tags is _id, with a field of type K.
type Collection[K Key, T any] struct {
	reader[T]
	shape shape
	store Engine
}

// Open opens a collection as declared by spec, and creates it if necessary.
func Open[K Key, T any](ctx context.Context, engine Engine, spec Spec) (*Collection[K, T], error) {
	if err := spec.Validate(); err != nil {
		return nil, err
	}
	if id := fieldOf[K](IDIndex); id.Kind != spec.ID {
		return nil, fmt.Errorf("docstore: collection %q is opened with another kind of _id than declared", spec.Name)
	}
	table, err := engine.Open(ctx, spec)
	if err != nil {
		return nil, fmt.Errorf("open collection %s: %w", spec.Name, err)
	}
	return &Collection[K, T]{reader: newReader[T](spec, table), shape: shapeOf(reflect.TypeFor[T]()), store: engine}, nil
}

// Insert stores a new document. Errors: *DuplicateError.
func (c *Collection[K, T]) Insert(ctx context.Context, document T) error {
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
func (c *Collection[K, T]) InsertMany(ctx context.Context, documents []T) (errs []error, err error) {
	if len(documents) == 0 {
		return nil, nil
	}
	raws := make([]bson.Raw, len(documents))
	for i := range documents {
		if raws[i], err = encode(&documents[i], 1); err != nil {
			return nil, c.wrap("insert", err)
		}
	}
	return c.insert(ctx, raws)
}

// insert is InsertMany of encoded documents.
func (c *Collection[K, T]) insert(ctx context.Context, raws []bson.Raw) (errs []error, err error) {
	for _, raw := range raws {
		if err := c.spec.CheckPlace(raw); err != nil {
			return nil, c.wrap("insert", err)
		}
	}
	if errs, err = c.table.Insert(ctx, raws); err != nil {
		return nil, c.wrap("insert", err)
	}
	return errs, nil
}

// InsertNew is InsertMany for documents that may be there already. taken are the positions of those
// that a *DuplicateError refused, in ascending order.
func (c *Collection[K, T]) InsertNew(ctx context.Context, documents []T) (taken []int, err error) {
	errs, err := c.InsertMany(ctx, documents)
	if err != nil {
		return nil, err
	}
	for i, err := range errs {
		var duplicate *DuplicateError
		switch {
		case errors.As(err, &duplicate):
			taken = append(taken, i)
		case err != nil:
			return nil, c.wrap("insert", err)
		}
	}
	return taken, nil
}

// Get returns the document with the given id, or ErrNotFound.
func (c *Collection[K, T]) Get(ctx context.Context, id K) (T, error) {
	return c.get(ctx, id, Present)
}

func (c *Collection[K, T]) get(ctx context.Context, id K, as Consistency) (document T, err error) {
	raw, err := GetFrom(ctx, c.table, ValueOf(id), as)
	if err != nil {
		return document, c.wrap("get", err)
	}
	return c.decode(raw)
}

// GetLinearizable is Get, and no later failure of a server undoes a write that the result
// shows. A caller that answers "done" because of a document which it has not written itself
// reads it this way. It takes about as long as a write.
func (c *Collection[K, T]) GetLinearizable(ctx context.Context, id K) (T, error) {
	return c.get(ctx, id, Linearizable)
}

// GetListed is Get for followers; see Listed.
func (c *Collection[K, T]) GetListed(ctx context.Context, id K) (T, error) {
	return c.get(ctx, id, Listed)
}

// GetRecent is Get, and the result shows every write that was durable longer than staleness
// ago, also while the servers do not agree which of them is the primary. It is mostly as fast
// as Get. On a sharded cluster it promises this only for a collection that is not sharded.
func (c *Collection[K, T]) GetRecent(ctx context.Context, id K, staleness time.Duration) (T, error) {
	return c.get(ctx, id, Recent(staleness))
}

// Exists reports whether a document has the given id.
func (c *Collection[K, T]) Exists(ctx context.Context, id K) (bool, error) {
	_, err := GetFrom(ctx, c.table, ValueOf(id), Present)
	if errors.Is(err, ErrNotFound) {
		return false, nil
	}
	return err == nil, c.wrap("get", err)
}

// GetMany returns the documents that exist, in any order, each once.
func (c *Collection[K, T]) GetMany(ctx context.Context, ids []K) ([]T, error) {
	documents, err := c.many(ctx, valuesOf(ids), Scan{}, nil)
	return documents, c.wrap("get many", err)
}

// Highest returns the highest id from from on, in the place that from names if the collection is
// sharded ByPlace, and 0 if there is none. It walks down from the highest id of all, so it is fast
// where few ids are above from: when from was drawn just now. The ids must be integers.
func (c *Collection[K, T]) Highest(ctx context.Context, from int64) (int64, error) {
	highest, err := c.table.Highest(ctx, from)
	return highest, c.wrap("find the highest id", err)
}

// Raise makes an integer field of a document at least as large as an amount, and returns what it was; 0 if it
// was missing. set has new values of other fields. It does not read the document before. Errors: ErrNotFound,
// and ErrConflict if the document does not meet the conditions.
func (c *Collection[K, T]) Raise(ctx context.Context, id K, to Amount, set map[string]any, conditions ...Condition) (before int64, err error) {
	_, was, err := c.modify(ctx, Change{ID: ValueOf(id), If: conditions, Raise: to, Fields: []string{to.Field}}, set)
	before, _ = was.Lookup(to.Field).Int64OK()
	return before, c.wrap("raise", err)
}

// Plus, in place of a value to set, is added to an integer field.
type Plus int64

// modify makes a change of any revision that also sets fields, and returns it with what Table.Update returns.
func (c *Collection[K, T]) modify(ctx context.Context, m Change, set map[string]any) (made Change, was bson.Raw, err error) {
	fields := slices.Sorted(maps.Keys(set))
	if m.Raise.Field != "" {
		fields = append(fields, m.Raise.Field)
	}
	for i, field := range fields {
		_, isKnown := c.shape[field]
		if !isKnown || field == IDIndex || slices.Contains(fields[:i], field) || !c.spec.isSettable(field) {
			return m, nil, fmt.Errorf("field %q cannot be set without a read", field)
		}
		value, isSet := set[field]
		if !isSet {
			continue
		}
		if by, isAdded := value.(Plus); isAdded {
			m.Add = append(slices.Clip(m.Add), Amount{field, int64(by)})
			continue
		}
		kind, raw, err := bson.MarshalValue(value)
		if err != nil {
			return m, nil, err
		}
		m.Set = append(m.Set, Assignment{field, bson.RawValue{Type: kind, Value: raw}})
	}
	was, err = c.table.Update(ctx, m)
	return m, was, err
}

// DeleteAll deletes the documents of a selection, in chunks, and returns how many it
// deleted. It is not atomic: if it fails, some of them may be deleted, and a retry deletes
// the rest.
func (c *Collection[K, T]) DeleteAll(ctx context.Context, where Where) (int64, error) {
	n, err := c.table.DeleteAll(ctx, where)
	return n, c.wrap("delete all", err)
}

func valuesOf[K Key](keys []K) []Value {
	values := make([]Value, len(keys))
	for i, key := range keys {
		values[i] = ValueOf(key)
	}
	return values
}

// encode marshals a document to BSON and appends its revision.
func encode(document any, revision int64) (bson.Raw, error) {
	raw, err := bson.Marshal(document)
	if err != nil {
		return nil, err
	}
	return appendInt64(raw, RevisionField, revision), nil
}

// appendInt64 appends a field to a document.
func appendInt64(document bson.Raw, name string, value int64) bson.Raw {
	document = appendName(document[:len(document)-1], bson.TypeInt64, name)
	document = append(binary.LittleEndian.AppendUint64(document, uint64(value)), 0)
	binary.LittleEndian.PutUint32(document, uint32(len(document)))
	return document
}
