package storekeeping

import (
	"context"
	"errors"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/waybook/waybook/internal/docstore"
)

// errDeclaredOnly is the error of a collection that was declared and not opened.
var errDeclaredOnly = errors.New("the collection is only declared; no store is open")

// declarations is an engine without a store: it notes the collections that a service
// declares. Nothing can be read from it or written to it.
type declarations struct {
	specs []docstore.Spec
}

// declaredSpecs returns the collections that some services declare.
func declaredSpecs(ctx context.Context, parts []part) ([]docstore.Spec, error) {
	d := &declarations{}
	for _, p := range parts {
		if _, err := p.open(ctx, deps(d)); err != nil {
			return nil, err
		}
	}
	return d.specs, nil
}

// Open returns a table that refuses every call.
func (d *declarations) Open(_ context.Context, spec docstore.Spec) (docstore.Table, error) {
	d.specs = append(d.specs, spec)
	return declaredTable{}, nil
}

// Inspect fails: there is no store to inspect.
func (d *declarations) Inspect(context.Context, docstore.Spec) (docstore.Inspection, error) {
	return docstore.Inspection{}, errDeclaredOnly
}

// Backfill fails: there is no store to change.
func (d *declarations) Backfill(context.Context) (int64, error) { return 0, errDeclaredOnly }

// IsLocal returns true: nothing waits for a network.
func (d *declarations) IsLocal() bool { return true }

// Ping fails: there is no store to ask.
func (d *declarations) Ping(context.Context) error { return errDeclaredOnly }

// Close does nothing.
func (d *declarations) Close() error { return nil }

// declaredTable is a collection of declarations.
type declaredTable struct{}

func (declaredTable) Insert(context.Context, []bson.Raw) ([]error, error) {
	return nil, errDeclaredOnly
}

func (declaredTable) Get(context.Context, docstore.Value) (bson.Raw, error) {
	return nil, errDeclaredOnly
}

func (declaredTable) GetLinearizable(context.Context, docstore.Value) (bson.Raw, error) {
	return nil, errDeclaredOnly
}

func (declaredTable) GetRecent(context.Context, docstore.Value, time.Duration) (bson.Raw, error) {
	return nil, errDeclaredOnly
}

func (declaredTable) GetMany(context.Context, []docstore.Value) ([]bson.Raw, error) {
	return nil, errDeclaredOnly
}

func (declaredTable) GetDurable(context.Context, []docstore.Value) ([]bson.Raw, error) {
	return nil, errDeclaredOnly
}

func (declaredTable) Highest(context.Context, int64) (int64, error) { return 0, errDeclaredOnly }

func (declaredTable) Update(context.Context, docstore.Change) error { return errDeclaredOnly }

func (declaredTable) UpdateMany(context.Context, []docstore.Change) (int64, error) {
	return 0, errDeclaredOnly
}

func (declaredTable) Increment(context.Context, docstore.Value, []docstore.Amount) error {
	return errDeclaredOnly
}

func (declaredTable) Delete(context.Context, docstore.Value) error { return errDeclaredOnly }

func (declaredTable) Scan(context.Context, docstore.Scan) ([]bson.Raw, bool, error) {
	return nil, false, errDeclaredOnly
}

func (declaredTable) Count(context.Context, docstore.Where) (int64, error) {
	return 0, errDeclaredOnly
}

func (declaredTable) DeleteAll(context.Context, docstore.Where) (int64, error) {
	return 0, errDeclaredOnly
}

func (declaredTable) Feed(context.Context, docstore.FeedScan) (docstore.FeedBatch, error) {
	return docstore.FeedBatch{}, errDeclaredOnly
}

func (declaredTable) Forget(context.Context, time.Duration) (int64, error) { return 0, errDeclaredOnly }
