package docstore

import (
	"context"
	"errors"

	"go.mongodb.org/mongo-driver/v2/bson"
)

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

func (readOnly) Feed(ctx context.Context, _ FeedScan) (FeedBatch, error) {
	return FeedBatch{}, refuseWrite(ctx)
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
