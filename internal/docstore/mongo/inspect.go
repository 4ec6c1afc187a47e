package mongo

import (
	"context"
	"slices"

	"github.com/waybook/waybook/internal/docstore"
)

// Inspect compares the declaration with the server's list of indexes.
func (e *Engine) Inspect(ctx context.Context, spec docstore.Spec) (docstore.Inspection, error) {
	if err := spec.Validate(); err != nil {
		return docstore.Inspection{}, err
	}
	t := newTable(e, spec)
	var stored map[string]storedIndex
	err := e.call(ctx, func() (err error) {
		if _, err := e.checkFormat(ctx); err != nil {
			return err
		}
		if err := t.checkIDKind(ctx); err != nil {
			return err
		}
		stored, err = t.storedIndexes(ctx)
		return err
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
	present, missing := t.match(stored)
	for _, index := range present {
		delete(stored, index.name)
	}
	for _, index := range missing {
		inspection.Missing = append(inspection.Missing, declaredName(index.Name))
		delete(stored, index.Name)
	}
	t.spec.Indexes = slices.DeleteFunc(slices.Clone(t.spec.Indexes), func(index docstore.Index) bool {
		return slices.Contains(inspection.Missing, index.Name)
	})
	for name := range stored {
		inspection.Undeclared = append(inspection.Undeclared, name)
	}
	slices.Sort(inspection.Missing)
	inspection.Missing = slices.Compact(inspection.Missing)
	slices.Sort(inspection.Undeclared)
	inspection.Table = docstore.ReadOnly(t)
	return inspection, nil
}
