// Package restoring marks the collections of a store that are being loaded from a dump. A
// half-loaded collection looks like a complete one, so programs refuse to start on a store
// with marks. The marks are documents of a collection of their own, in every engine.
package restoring

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/waybook/waybook/internal/docstore"
)

// maxMarks bounds how many marks are read. Waybook has fewer collections.
const maxMarks = 100

// mark is a collection that is being loaded. Its id is the collection's name.
type mark struct {
	Collection string `bson:"_id"`
}

func spec() docstore.Spec { return docstore.Spec{Name: "unfinished_loads", ID: docstore.String} }

// IncompleteError reports collections that were not loaded completely.
type IncompleteError struct {
	// Collections are their names, sorted.
	Collections []string
}

// Error names the collections and says what to do.
func (e *IncompleteError) Error() string {
	return fmt.Sprintf("the store is incomplete: a load of %s was interrupted; "+
		"run waybookctl store load with the same file again, or start over with an empty store",
		strings.Join(e.Collections, ", "))
}

// Begin marks collections. A collection may be marked already.
func Begin(ctx context.Context, store docstore.Engine, collections []string) error {
	marks, err := docstore.Open[string, mark](ctx, store, spec())
	if err != nil {
		return err
	}
	documents := make([]mark, len(collections))
	for i, name := range collections {
		documents[i] = mark{name}
	}
	_, err = docstore.Taken(marks.Insert(ctx, documents...))
	return err
}

// End removes the marks of collections.
func End(ctx context.Context, store docstore.Engine, collections []string) error {
	marks, err := docstore.Open[string, mark](ctx, store, spec())
	if err != nil {
		return err
	}
	for _, name := range collections {
		if err := marks.Delete(ctx, name); err != nil && !errors.Is(err, docstore.ErrNotFound) {
			return err
		}
	}
	return nil
}

// Refuse returns an *IncompleteError if the store has marks. It changes nothing.
func Refuse(ctx context.Context, store docstore.Engine) error {
	inspection, err := store.Inspect(ctx, spec())
	if err != nil || !inspection.Exists {
		return err
	}
	documents, _, err := inspection.Table.Scan(ctx,
		docstore.Scan{Where: docstore.All(docstore.IDIndex), Limit: maxMarks})
	if err != nil || len(documents) == 0 {
		return err
	}
	incomplete := &IncompleteError{}
	for _, document := range documents {
		incomplete.Collections = append(incomplete.Collections, document.Lookup("_id").StringValue())
	}
	slices.Sort(incomplete.Collections)
	return incomplete
}
