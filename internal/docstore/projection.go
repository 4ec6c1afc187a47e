package docstore

import (
	"context"
	"iter"
	"reflect"
)

// Projection reads documents of a collection as a type that has only some of their
// fields. A long list costs less this way, and least if the index of a query has all of these
// fields, as integers: then the documents are not read. It may be used concurrently.
type Projection[T any] struct {
	of reader[T]
}

// Project returns a projection of a collection's documents to T, a struct with bson tags.
func Project[T any, K Key, Whole any](c *Collection[K, Whole]) *Projection[T] {
	of := newReader[T](c.spec, c.table)
	if of.plan != nil {
		of.plan.endsEarly = true
	}
	for name := range shapeOf(reflect.TypeFor[T]()) {
		of.fields = append(of.fields, name)
	}
	return &Projection[T]{of}
}

// Page is Collection.Page.
func (p *Projection[T]) Page(ctx context.Context, query Query) (Page[T], error) {
	return p.of.Page(ctx, query)
}

// BatchesUpTo is Collection.BatchesUpTo.
func (p *Projection[T]) BatchesUpTo(ctx context.Context, query Query, count int64) iter.Seq2[[]T, error] {
	return p.of.BatchesUpTo(ctx, query, count)
}
