// Package docstore is the one storage port of Waybook: typed collections of BSON
// documents, kept by an engine that services never see. Two engines exist,
// docstore/mongo and docstore/embedded; each promise made here has a case in
// docstore/docstoretest, which both pass.
//
// What holds for every method of Engine, Table and Collection:
//
//   - It may be called concurrently.
//   - When a write returns nil it is durable: embedded has synced its file,
//     mongo has been acknowledged by a majority.
//   - It honours ctx: once ctx is done it returns promptly with an error that
//     wraps ctx.Err(). A write ended that way may or may not have happened, whole;
//     any other error means that it has not, except ErrUnavailable, which leaves
//     it open in the same way.
//   - A write of one document, with all its index entries, is atomic.
//   - A read that starts after a write returned nil sees that write.
//   - Values that a caller gives (an id, Equal, From, To, After) may be of any signed integer
//     or string type of the declared kind; another kind is a plain error.
package docstore

import (
	"context"
	"errors"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// Errors that callers tell apart with errors.Is. Everything else that a method
// returns is a fault of the engine.
var (
	// ErrNotFound: no document has that id or key.
	ErrNotFound = errors.New("docstore: not found")
	// ErrConflict: the document changed between read and write-back.
	ErrConflict = errors.New("docstore: conflict")
	// ErrBadToken: a page token that this collection did not give for that index.
	ErrBadToken = errors.New("docstore: bad page token")
	// ErrUnavailable: the store can't be reached now; the call may be tried again.
	ErrUnavailable = errors.New("docstore: unavailable")
)

// DuplicateError says that a document was not inserted or changed because another
// one has the same id or the same key in a unique index. When several do, it names
// the id before any index.
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

// Kind is the type that an indexed field has in every document of a collection.
type Kind int

// The kinds of an indexed field. Int64 sorts by value. String is valid UTF-8 and
// sorts by its bytes, whatever the language.
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
	// Indexes are all its indexes but that of _id.
	Indexes []Index
	// Sharding is where the collection lies on a sharded cluster.
	Sharding Sharding
}

// Sharding is where a collection lies on a sharded MongoDB cluster; other stores don't
// look at it. A cluster keeps a unique index on each shard by itself, so it holds as a
// whole only when the shard key is a prefix of it. The index of _id is one that every
// collection has: the shard key must be _id, and any other unique index does not begin
// with it. Hence a collection with a unique index of its own stays on one shard.
type Sharding int

const (
	// OneShard keeps the collection whole on one shard.
	OneShard Sharding = iota
	// ByID spreads the collection over the shards by a hash of _id. A read by another
	// index asks every shard.
	ByID
)

// Index declares an index. A document sorts by the fields in their order and, where
// they are equal, by _id. Every document must have every indexed field.
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

// MaxKeyBytes bounds the sum of the string bytes in one index key: its fields and
// _id. A longer one is refused by Insert and Replace with a plain error.
const MaxKeyBytes = 1024

// Engine is a store of collections.
type Engine interface {
	// Open makes the collection and its declared indexes exist, building an index
	// that is new or was declared otherwise before, and returns the collection.
	// An index that is no longer declared may be dropped or stay. It fails when
	// existing documents do not fit a declared index, when _id was declared of
	// another kind, and when the collection is open with another declaration.
	Open(ctx context.Context, spec Spec) (Table, error)
	// Inspect tells what the store has of a collection, whether it is open or not, and
	// changes nothing. It fails when _id was declared of another kind.
	Inspect(ctx context.Context, spec Spec) (Inspection, error)
	// Ping asks the store itself whether it can be used now.
	Ping(ctx context.Context) error
	// Close waits for calls under way and releases the store. Calls that come
	// later fail with ErrUnavailable; closing again does nothing.
	Close() error
}

// Table is what an engine implements for one collection. Documents are BSON with
// an _id of the declared kind and a revision in RevisionField; the engine does not
// look at any other field but those indexed. What it returns is the caller's;
// what it is given must not be changed afterwards, not even once ctx is done.
// Collection is what services use.
type Table interface {
	// Insert stores each document or refuses it by itself: errs[i] is nil or why
	// documents[i] was refused (a *DuplicateError, or a plain error for one that
	// Spec.CheckDocument finds fault with). Among documents that exclude each
	// other the first is stored. err is for the call as a whole; the documents
	// may then have been stored in part.
	Insert(ctx context.Context, documents []bson.Raw) (errs []error, err error)
	// Get returns a document, or ErrNotFound.
	Get(ctx context.Context, id any) (bson.Raw, error)
	// GetMany returns those documents that exist, in any order, each once.
	GetMany(ctx context.Context, ids []any) ([]bson.Raw, error)
	// Replace stores document in place of the one with its _id if that one has the
	// revision given. Otherwise ErrConflict, or ErrNotFound when there is none,
	// or a *DuplicateError.
	Replace(ctx context.Context, revision int64, document bson.Raw) error
	// Delete removes a document, or returns ErrNotFound.
	Delete(ctx context.Context, id any) error
	// Scan returns documents in the order of an index.
	Scan(ctx context.Context, scan Scan) ([]bson.Raw, error)
	// Count counts the documents whose first index fields are equal to values.
	Count(ctx context.Context, index string, equal []any) (int64, error)
	// DeleteAll deletes the documents whose first index fields are equal to
	// values and tells how many it deleted. It is not atomic: when it fails some
	// may be gone, and calling it again goes on.
	DeleteAll(ctx context.Context, index string, equal []any) (int64, error)
}

// RevisionField is the field in which a stored document carries its revision, an
// int64 that grows by one with each Replace.
const RevisionField = "_rev"

// Scan asks for documents in the order of an index.
type Scan struct {
	// Index is a declared index, or IDIndex.
	Index string
	// Equal are the values of the index's first fields that a document must have;
	// none means every document.
	Equal []any
	// From and To, unless nil, are the lowest and the highest value that the field
	// after those of Equal may have. From above To is a range of nothing.
	From, To any
	// After, unless nil, are the values of the remaining fields and _id of the
	// document behind which the scan starts. It may lie outside the range. Of a unique
	// index, the document that has taken over all its values may come or not.
	After []any
	// Limit is the highest number of documents returned, 1 or more.
	Limit int
}

// FieldsOf returns the fields by which the named index sorts, _id last.
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

// ValueOf returns a document's value of an indexed field, an int64 or a string.
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
	return nil, fmt.Errorf("docstore: field %q is a %s", field.Name, value.Type)
}
