package docstore

import (
	"context"
	"iter"
	"reflect"
)

// Part reads documents of a collection as a type that has some of their fields only,
// which costs less where there are many. It may be used concurrently.
type Part[T any] struct {
	of Collection[T]
}

// PartOf returns a part of a collection's documents, a struct with bson tags.
func PartOf[T, Whole any](c *Collection[Whole]) *Part[T] {
	plan := planFor(reflect.TypeFor[T]())
	if plan != nil {
		plan.endsEarly = true
	}
	return &Part[T]{Collection[T]{spec: c.spec, table: c.table, plan: plan}}
}

// BatchesUpTo is Collection.BatchesUpTo.
func (p *Part[T]) BatchesUpTo(ctx context.Context, query Query, count int64) iter.Seq2[[]T, error] {
	return p.of.BatchesUpTo(ctx, query, count)
}
