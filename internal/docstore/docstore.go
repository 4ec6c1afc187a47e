// Package docstore is the one storage port of Waybook: typed collections of BSON
// documents. Services see only this package, never the engine that keeps the documents.
// There are two engines: docstore/mongo and docstore/embedded. Each promise made here
// has a case in docstore/docstoretest, which both engines pass.
//
// These promises hold for every method of Engine, Table and Collection:
//
//   - It may be called concurrently.
//   - A write is durable when it returns nil. The embedded engine has synced its file;
//     MongoDB has acknowledged the write by a majority.
//   - It honours ctx: once ctx is done, it returns promptly with an error that wraps
//     ctx.Err(). Such a write has happened either completely or not at all.
//   - ErrUnavailable leaves the outcome of a write open in the same way. Any other error
//     means that the write has not happened.
//   - A write of one document, with all its index entries, is atomic.
//   - A read that starts after a write returned nil sees that write.
//   - A value from a caller (an id, Equal, From, To, After) may have any signed integer
//     or string type of the declared kind. A value of another kind is a plain error.
package docstore

import (
	"context"
	"errors"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// Errors that callers distinguish with errors.Is. A plain error is one that wraps none of
// these, no *DuplicateError and no error of a context.
var (
	// ErrNotFound: no document has that id or key.
	ErrNotFound = errors.New("docstore: not found")
	// ErrConflict: the document changed between the read and the write.
	ErrConflict = errors.New("docstore: conflict")
	// ErrBadToken: this collection did not issue the page token for that query.
	ErrBadToken = errors.New("docstore: bad page token")
	// ErrUnavailable: the store cannot be reached now. The caller may retry.
	ErrUnavailable = errors.New("docstore: unavailable")
)

// DuplicateError reports that a document was not inserted or changed, because another
// document has the same id or the same key in a unique index. If several do, the error
// names the id before any index.
type DuplicateError struct {
	// Index is the index's name, or IDIndex.
	Index string
}

// Error names the index.
func (e *DuplicateError) Error() string {
	return fmt.Sprintf("docstore: duplicate key in index %q", e.Index)
}

// IDIndex names the index of the _id field, which every collection has.
const IDIndex = "_id"

// Kind is the type of an indexed field, the same in every document of a collection.
type Kind int

// The kinds of an indexed field. Int64 sorts by value. String is valid UTF-8 and sorts
// by its bytes, independent of language.
const (
	Int64 Kind = iota + 1
	String
)

// Spec declares a collection.
type Spec struct {
	// Name is the collection's name, in lower_snake_case, unique in the store.
	Name string
	// ID is the kind of the _id field.
	ID Kind
	// Indexes are all indexes of the collection except the one of _id.
	Indexes []Index
	// Sharding is the placement of the collection on a sharded cluster.
	Sharding Sharding
}

// Sharding is the placement of a collection on a sharded MongoDB cluster. Other stores
// ignore it.
//
// A cluster enforces a unique index on each shard separately. The index is unique over
// all shards only if the shard key is a prefix of it. Every collection has the unique
// index of _id, so the shard key must be _id. No other unique index begins with _id, so
// a collection that declares one stays on one shard.
type Sharding int

const (
	// OneShard keeps the collection whole on one shard.
	OneShard Sharding = iota
	// ByID spreads the collection over the shards by a hash of _id. A read by another
	// index asks every shard.
	ByID
)

// Index declares an index. Documents sort by the fields in their order and, where all
// of them are equal, by _id. Every document must have every indexed field.
type Index struct {
	// Name is the index's name, unique in the collection.
	Name string
	// Fields are one or more top-level fields.
	Fields []Field
	// Unique refuses a second document with equal fields.
	Unique bool
}

// Field is an indexed field of a document.
type Field struct {
	Name string
	Kind Kind
}

// MaxKeyBytes bounds the total bytes of the strings in one index key, that is in its
// fields and _id. Insert and Replace refuse a longer key with a plain error.
const MaxKeyBytes = 1024

// Engine is a store of collections.
type Engine interface {
	// Open creates the collection and its declared indexes where they are missing, and
	// returns the collection. It rebuilds an index whose declaration has changed. An
	// index that is no longer declared may be dropped or stay.
	//
	// Open fails if stored documents do not fit a declared index, or if _id was declared
	// with another kind. It also fails if the collection is open with another declaration.
	// If other processes may share the store, it fails if the declaration of a unique index
	// has changed; a preparation by the operator creates that index.
	Open(ctx context.Context, spec Spec) (Table, error)
	// Inspect reports which parts of a collection exist in the store, whether the
	// collection is open or not. It changes nothing. It fails if _id was declared with
	// another kind.
	Inspect(ctx context.Context, spec Spec) (Inspection, error)
	// Ping checks that the store can be used now.
	Ping(ctx context.Context) error
	// Close waits for the calls in flight and releases the store. Later calls fail with
	// ErrUnavailable. Closing again does nothing.
	Close() error
}

// Table is the part of an engine that serves one collection. Services use Collection
// instead.
//
// Documents are BSON with an _id of the declared kind and a revision in RevisionField.
// The engine reads only these and the indexed fields. The caller owns the documents
// that a method returns. The caller must not change the documents that it passes in,
// not even after ctx is done.
type Table interface {
	// Insert stores or refuses each document separately. errs[i] is nil or the reason
	// why documents[i] was refused: a *DuplicateError, or the plain error of
	// Spec.CheckDocument. If two documents exclude each other, the first is stored. err is
	// the failure of the whole call, which may have stored some of the documents.
	Insert(ctx context.Context, documents []bson.Raw) (errs []error, err error)
	// Get returns a document, or ErrNotFound.
	Get(ctx context.Context, id any) (bson.Raw, error)
	// GetMany returns the documents that exist, in any order, each once.
	GetMany(ctx context.Context, ids []any) ([]bson.Raw, error)
	// Replace replaces the stored document with the same _id, if it has the given
	// revision. Errors: ErrConflict for another revision, ErrNotFound,
	// *DuplicateError.
	Replace(ctx context.Context, revision int64, document bson.Raw) error
	// Delete removes a document, or returns ErrNotFound.
	Delete(ctx context.Context, id any) error
	// Scan returns documents in the order of an index.
	Scan(ctx context.Context, scan Scan) ([]bson.Raw, error)
	// Count counts the documents whose first index fields have the values of equal.
	Count(ctx context.Context, index string, equal []any) (int64, error)
	// DeleteAll deletes the documents whose first index fields have the values of
	// equal, and returns how many it deleted. It is not atomic: if it fails, some of
	// them may be deleted, and a retry deletes the rest.
	DeleteAll(ctx context.Context, index string, equal []any) (int64, error)
}

// RevisionField is the field of a stored document that holds its revision, an int64
// that grows by one with each Replace.
const RevisionField = "_rev"

// Scan asks for documents in the order of an index.
type Scan struct {
	// Index is a declared index, or IDIndex.
	Index string
	// Equal are the values that a document must have in the first fields of the index.
	// If it is empty, every document matches.
	Equal []any
	// From and To, unless nil, are the lowest and the highest value of the field that
	// follows those of Equal. If From is above To, no document matches.
	From, To any
	// After, unless nil, is the position after which the scan starts: the values of the
	// remaining fields and _id. It may lie outside the range. In a unique index, a
	// document that differs from it in _id only may be returned or not.
	After []any
	// Limit is the maximum number of documents returned, 1 or more.
	Limit int
}

// FieldsOf returns the sort fields of the named index, with _id last.
func (s Spec) FieldsOf(index string) ([]Field, error) {
	id := Field{Name: "_id", Kind: s.ID}
	if index == IDIndex {
		return []Field{id}, nil
	}
	for _, ix := range s.Indexes {
		if ix.Name == index {
			return append(append(make([]Field, 0, len(ix.Fields)+1), ix.Fields...), id), nil
		}
	}
	return nil, fmt.Errorf("docstore: collection %q declares no index %q", s.Name, index)
}

// ValueOf returns the value of an indexed field in a document, an int64 or a string.
func ValueOf(document bson.Raw, field Field) (any, error) {
	value, err := document.LookupErr(field.Name)
	if err != nil {
		return nil, fmt.Errorf("docstore: field %q: %w", field.Name, err)
	}
	switch field.Kind {
	case Int64:
		if n, ok := value.Int64OK(); ok {
			return n, nil
		}
	case String:
		if s, ok := value.StringValueOK(); ok {
			return s, nil
		}
	}
	return nil, fmt.Errorf("docstore: field %q has the wrong BSON type %s", field.Name, value.Type)
}
