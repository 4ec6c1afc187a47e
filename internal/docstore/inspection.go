package docstore

import (
	"context"
	"errors"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// Inspection is what a store has of a collection.
type Inspection struct {
	// Exists tells whether the collection was ever made.
	Exists bool
	// Missing names the declared indexes that are not there as they are declared, and
	// Undeclared those that are there and are not declared; both in alphabetical order.
	Missing, Undeclared []string
	// Table reads the collection by _id and by the declared indexes that are not missing;
	// asked for another index it gives a plain error, and so do its writes. A collection
	// that Inspect did not find reads as an empty one.
	Table Table
}

// errReadOnly is what the writes of an Inspection's table fail with.
var errReadOnly = errors.New("docstore: the collection was not opened for writing")

// ReadOnly returns a table without its writes, for engines to give as an Inspection's.
func ReadOnly(table Table) Table { return readOnly{table} }

type readOnly struct{ Table }

func (readOnly) Insert(ctx context.Context, _ []bson.Raw) ([]error, error) {
	return nil, refuseWrite(ctx)
}

func (readOnly) Replace(ctx context.Context, _ int64, _ bson.Raw) error { return refuseWrite(ctx) }

func (readOnly) Delete(ctx context.Context, _ any) error { return refuseWrite(ctx) }

func (readOnly) DeleteAll(ctx context.Context, _ string, _ []any) (int64, error) {
	return 0, refuseWrite(ctx)
}

func refuseWrite(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return errReadOnly
}
