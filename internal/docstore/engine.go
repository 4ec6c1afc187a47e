package docstore

import (
	"context"
	"errors"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// Engine is a store of collections.
type Engine interface {
	// Open creates the collection and its declared indexes where they are missing, and returns the
	// collection. A store of one process rebuilds an index whose declaration has changed. An index
	// that is no longer declared may be dropped or stay.
	//
	// Open fails if stored documents do not fit a declared index, or if _id was declared
	// with another kind. It also fails if the collection is open with another declaration.
	// If other processes may share the store, it fails if the declaration of an index has changed.
	Open(ctx context.Context, spec Spec) (Table, error)
	// Inspect reports which parts of a collection exist in the store, whether the
	// collection is open or not. It changes nothing. It fails if _id was declared with
	// another kind.
	Inspect(ctx context.Context, spec Spec) (Inspection, error)
	// Renew gives the store another identifier, so that the tokens of changes of before are
	// refused: what followers have seen may have been taken back.
	Renew(ctx context.Context) error
	// IsLocal reports whether the store is in this process, so that no read waits for a network.
	IsLocal() bool
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
// The engine reads only these and the indexed fields. The caller owns the documents that a
// method returns; each keeps at most a few kilobytes of others in memory. The caller must not
// change the documents that it passes in, not even after ctx is done.
type Table interface {
	// Insert stores or refuses each document separately. errs[i] is nil or the reason
	// why documents[i] was refused: a *DuplicateError, or the plain error of
	// Spec.CheckDocument. If two documents exclude each other, the first is stored. err is
	// the failure of the whole call, which may have stored some of the documents.
	Insert(ctx context.Context, documents []bson.Raw) (errs []error, err error)
	// Update changes the document with change.ID and raises the field that change.Counts by one.
	// Fields that the change does not name stay as they are. It returns what the change asks for
	// of the document before. Errors: ErrConflict if the document has another revision or does not
	// meet the conditions, ErrNotFound, *DuplicateError.
	Update(ctx context.Context, change Change) (before bson.Raw, err error)
	// UpdateMany makes each change whose document has its revision and meets its conditions, and
	// skips the others. It returns how many it made. The changes have different documents and no
	// indexed fields of a unique index. If it fails, some of them may have been made.
	UpdateMany(ctx context.Context, changes []Change) (int64, error)
	// Delete deletes a document. Errors: ErrNotFound, and ErrConflict if it does not meet the
	// conditions.
	Delete(ctx context.Context, deletion Deletion) error
	// Scan returns documents in the order of an index, or those with the ids of WithIDs. more
	// reports whether more documents follow the last one.
	Scan(ctx context.Context, scan Scan) (documents []bson.Raw, more bool, err error)
	// Count counts the documents of a selection.
	Count(ctx context.Context, where Where) (int64, error)
	// DeleteAll deletes the documents of a selection, in chunks, and returns how many it
	// deleted. It is not atomic: if it fails, some of them may be deleted, and a retry
	// deletes the rest.
	DeleteAll(ctx context.Context, where Where) (int64, error)
	// Changes returns changes from a position on, up to now, in a collection with a Feed.
	Changes(ctx context.Context, scan ChangeScan) (ChangeBatch, error)
	// Tombstones returns the tombstones, in a collection that has them, that became due after a
	// moment, in that order, and the present moment of the store. No failure of a server undoes
	// the deletions that it returns.
	Tombstones(ctx context.Context, after Moment, limit int) (due []Tombstone, now Moment, err error)
	// Postpone makes a tombstone clear, and due at a moment. Errors: ErrNotFound.
	Postpone(ctx context.Context, tombstone Tombstone, until Moment) error
	// Forget removes a tombstone for good. Changes knows from then on that deletions up to its
	// moment may be missing. Errors: ErrNotFound.
	Forget(ctx context.Context, tombstone Tombstone) error
}

// Inspection describes a collection as it exists in a store.
type Inspection struct {
	// Exists reports whether the collection exists.
	Exists bool
	// Missing names the declared indexes that do not exist as declared. Undeclared names
	// the existing indexes that are not declared. Both are in alphabetical order.
	Missing, Undeclared []string
	// Table reads the collection by _id and by the declared indexes that exist. Reads by
	// another index fail with a plain error, and so do all writes. A collection that does
	// not exist reads as an empty one.
	Table Table
}

// errReadOnly is the error of each write to an Inspection's table.
var errReadOnly = errors.New("docstore: the collection was not opened for writing")

// ReadOnly returns a table whose writes fail, for engines to set as Inspection.Table.
func ReadOnly(table Table) Table { return readOnly{table} }

type readOnly struct{ Table }

func (readOnly) Insert(ctx context.Context, _ []bson.Raw) ([]error, error) {
	return nil, refuseWrite(ctx)
}

func (readOnly) Update(ctx context.Context, _ Change) (bson.Raw, error) { return nil, refuseWrite(ctx) }

func (readOnly) UpdateMany(ctx context.Context, _ []Change) (int64, error) {
	return 0, refuseWrite(ctx)
}

func (readOnly) Delete(ctx context.Context, _ Deletion) error { return refuseWrite(ctx) }

func (readOnly) DeleteAll(ctx context.Context, _ Where) (int64, error) { return 0, refuseWrite(ctx) }

func (readOnly) Changes(ctx context.Context, _ ChangeScan) (ChangeBatch, error) {
	return ChangeBatch{}, refuseWrite(ctx)
}

func (readOnly) Tombstones(ctx context.Context, _ Moment, _ int) ([]Tombstone, Moment, error) {
	return nil, 0, refuseWrite(ctx)
}

func (readOnly) Postpone(ctx context.Context, _ Tombstone, _ Moment) error { return refuseWrite(ctx) }

func (readOnly) Forget(ctx context.Context, _ Tombstone) error { return refuseWrite(ctx) }

func refuseWrite(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return errReadOnly
}

// GetFrom returns a document of a table. Errors: ErrNotFound.
func GetFrom(ctx context.Context, table Table, id Value, as Consistency) (bson.Raw, error) {
	found, _, err := table.Scan(ctx, Scan{Where: WithIDs(id), Limit: 1, As: as})
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, ErrNotFound
	}
	return found[0], nil
}
