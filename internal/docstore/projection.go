package docstore

import (
	"context"
	"iter"
	"reflect"
)

// Projection reads documents of a collection as a type that has only some of their
// fields. A long list costs less this way. It may be used concurrently.
type Projection[T any] struct {
	of Collection[T]
}

// Project returns a projection of a collection's documents to T, a struct with bson tags.
func Project[T, Whole any](c *Collection[Whole]) *Projection[T] {
	plan := planFor(reflect.TypeFor[T]())
	if plan != nil {
		plan.endsEarly = true
	}
	return &Projection[T]{Collection[T]{spec: c.spec, table: c.table, plan: plan}}
}

// BatchesUpTo is Collection.BatchesUpTo.
func (p *Projection[T]) BatchesUpTo(ctx context.Context, query Query, count int64) iter.Seq2[[]T, error] {
	return p.of.BatchesUpTo(ctx, query, count)
}
