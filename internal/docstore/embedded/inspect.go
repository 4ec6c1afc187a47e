package embedded

import (
	"context"
	"slices"
	"time"

	bolt "go.etcd.io/bbolt"
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/waybook/waybook/internal/docstore"
)

// Inspect compares the declaration with the catalog. An index that a crash left
// incomplete is missing.
func (e *Engine) Inspect(ctx context.Context, spec docstore.Spec) (docstore.Inspection, error) {
	if err := spec.Validate(); err != nil {
		return docstore.Inspection{}, err
	}
	var found declaration
	err := e.view(ctx, func(tx *bolt.Tx) (err error) {
		found, err = readDeclaration(tx, spec.Name)
		return err
	})
	if err != nil {
		return docstore.Inspection{}, err
	}
	if err := found.checkID(spec); err != nil {
		return docstore.Inspection{}, err
	}
	there := docstore.Spec{Name: spec.Name, ID: spec.ID, Defaults: spec.Defaults}
	inspection := docstore.Inspection{Exists: found.ID != 0}
	for _, index := range spec.Indexes {
		if slices.ContainsFunc(found.Indexes, state(spec, index).equal) {
			there.Indexes = append(there.Indexes, index)
		} else {
			inspection.Missing = append(inspection.Missing, index.Name)
		}
	}
	for _, had := range found.Indexes {
		if _, err := spec.FieldsOf(had.Name); err != nil {
			inspection.Undeclared = append(inspection.Undeclared, had.Name)
		}
	}
	slices.Sort(inspection.Missing)
	slices.Sort(inspection.Undeclared)
	t := newTable(e, there)
	if inspection.Exists {
		inspection.Table = docstore.ReadOnly(t)
	} else {
		inspection.Table = docstore.ReadOnly(absent{t})
	}
	return inspection, nil
}

// absent is a collection that does not exist in the file. It reads as an empty one.
type absent struct{ *table }

func (a absent) Get(ctx context.Context, _ docstore.Value) (bson.Raw, error) {
	if err := a.engine.enterOnce(ctx); err != nil {
		return nil, err
	}
	return nil, docstore.ErrNotFound
}

func (a absent) GetLinearizable(ctx context.Context, id docstore.Value) (bson.Raw, error) {
	return a.Get(ctx, id)
}

func (a absent) GetRecent(ctx context.Context, id docstore.Value, _ time.Duration) (bson.Raw, error) {
	return a.Get(ctx, id)
}

func (a absent) GetMany(ctx context.Context, _ []docstore.Value) ([]bson.Raw, error) {
	return nil, a.engine.enterOnce(ctx)
}

func (a absent) GetDurable(ctx context.Context, ids []docstore.Value) ([]bson.Raw, error) {
	return a.GetMany(ctx, ids)
}

func (a absent) Highest(ctx context.Context, _ int64) (int64, error) {
	return 0, a.engine.enterOnce(ctx)
}

func (a absent) Scan(ctx context.Context, scan docstore.Scan) ([]bson.Raw, bool, error) {
	if _, err := a.find(scan.Index()); err != nil {
		return nil, false, err
	}
	return nil, false, a.engine.enterOnce(ctx)
}

func (a absent) Count(ctx context.Context, where docstore.Where) (int64, error) {
	if _, err := a.find(where.Index()); err != nil {
		return 0, err
	}
	return 0, a.engine.enterOnce(ctx)
}
