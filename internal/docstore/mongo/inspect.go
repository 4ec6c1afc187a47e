package mongo

import (
	"context"
	"fmt"
	"slices"

	"github.com/waybook/waybook/internal/docstore"
)

// primaryIndex is the server's name for the index of _id.
const primaryIndex = "_id_"

// Inspect compares the declaration with the server's list of indexes.
func (e *Engine) Inspect(ctx context.Context, spec docstore.Spec) (docstore.Inspection, error) {
	if err := spec.Validate(); err != nil {
		return docstore.Inspection{}, err
	}
	t := &table{engine: e, spec: spec, collection: e.database.Collection(spec.Name)}
	var stored map[string]storedIndex
	err := e.call(ctx, func() (err error) {
		if err := t.checkIDKind(ctx); err != nil {
			return err
		}
		if stored, err = t.storedIndexes(ctx); err != nil {
			return fmt.Errorf("list indexes: %w", err)
		}
		return nil
	})
	if err != nil {
		return docstore.Inspection{}, err
	}
	// Every collection has the index of _id.
	inspection := docstore.Inspection{Exists: len(stored) > 0}
	delete(stored, primaryIndex)
	if spec.Sharding == docstore.ByID {
		delete(stored, hashedIndex)
	}
	t.spec.Indexes = nil
	for _, index := range spec.Indexes {
		if has, found := stored[index.Name]; found && has.matches(index) {
			t.spec.Indexes = append(t.spec.Indexes, index)
		} else {
			inspection.Missing = append(inspection.Missing, index.Name)
		}
		delete(stored, index.Name)
	}
	for name := range stored {
		inspection.Undeclared = append(inspection.Undeclared, name)
	}
	slices.Sort(inspection.Missing)
	slices.Sort(inspection.Undeclared)
	inspection.Table = docstore.ReadOnly(t)
	return inspection, nil
}
